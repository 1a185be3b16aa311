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

namespace autopar {

/// Refuses a second op of `Kind`, an op or an interface, in the same module.
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

/// Refuses words of an op's `assumed` that are not of `known`, or come twice.
mlir::LogicalResult verifyAssumed(mlir::Operation *op, mlir::ArrayAttr assumed,
                                  llvm::ArrayRef<llvm::StringRef> known);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_MODULEOPS_H
