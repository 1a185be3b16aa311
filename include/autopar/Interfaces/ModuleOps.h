//===- ModuleOps.h - Checks of ops that say something of a module -*- C++
//-*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_MODULEOPS_H
#define AUTOPAR_INTERFACES_MODULEOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace autopar {

/// Returns the function that contains `op`; null if a symbol table, such as a
/// module, lies between them.
mlir::FunctionOpInterface findFunctionAround(mlir::Operation *op);

/// Calls `visit` with every op of `Kind` below `scope`, in the order of the
/// text, but skips nested symbol tables.
template <typename Kind, typename Visit>
void forEachIn(mlir::Operation *scope, Visit visit) {
  scope->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (op != scope && op->hasTrait<mlir::OpTrait::SymbolTable>())
      return mlir::WalkResult::skip();
    if (auto found = mlir::dyn_cast<Kind>(op))
      visit(found);
    return mlir::WalkResult::advance();
  });
}

/// Whether no op for which `isKind` holds follows `op` below `scope`, in the
/// order of the text. The last op of a kind verifies the conditions on all ops
/// of the kind; each op looks only as far as the next one, so that together
/// they visit every op of `scope` about once.
bool isLastIn(mlir::Operation *scope, mlir::Operation *op,
              llvm::function_ref<bool(mlir::Operation *)> isKind);

/// Emits an error if the module has two ops of `Kind`, an op class or an
/// interface; `what` names them.
template <typename Kind>
mlir::LogicalResult verifyOnlyOne(mlir::Operation *op, llvm::StringRef what) {
  auto module = mlir::dyn_cast_or_null<mlir::ModuleOp>(op->getParentOp());
  if (!module)
    return op->emitOpError("must be directly inside a module");
  for (Kind other : module.getOps<Kind>()) {
    if (other == op)
      return mlir::success();
    mlir::InFlightDiagnostic diag = op->emitOpError() << "is a second " << what
                                                      << " of its module";
    diag.attachNote(other->getLoc()) << "the first is here";
    return diag;
  }
  return mlir::success();
}

/// Emits an error if the attribute `assumed` of an op has a word that is not in
/// `known`, or a word twice.
mlir::LogicalResult verifyAssumed(mlir::Operation *op, mlir::ArrayAttr assumed,
                                  llvm::ArrayRef<llvm::StringRef> known);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_MODULEOPS_H
