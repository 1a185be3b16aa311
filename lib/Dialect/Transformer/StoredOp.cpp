//===- StoredOp.cpp - What a checkpoint has besides -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "autopar/Interfaces/ModuleOps.h"

#include "mlir/Interfaces/CallInterfaces.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

FunctionOpInterface StoredOp::getStoredFunction() {
  return SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getFunctionAttr());
}

namespace {

/// The calls of the functions of a module, and the ops that declare functions
/// as stored.
class StoredFunctions {
public:
  StoredFunctions(ModuleOp module, SymbolTableCollection &symbols)
      : module(module), symbols(symbols) {
    module.walk([&](CallOpInterface call) {
      if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
        calls.try_emplace(callee, call);
    });
  }

  LogicalResult verify(StoredOp op) {
    FlatSymbolRefAttr name = op.getFunctionAttr();
    auto function =
        symbols.lookupSymbolIn<FunctionOpInterface>(module, name.getAttr());
    if (!function)
      return op.emitOpError()
             << "names " << name << ", which is no function of its module";
    if (!function.isPrivate() || function.isDeclaration())
      return op.emitOpError()
             << "names " << name << ", expected a private function with a body";
    auto [first, isNew] = firsts.try_emplace(name, op);
    if (!isNew)
      return refuse(op, first->second, " a second time", "the first is here");
    if (Operation *call = calls.lookup(name))
      return refuse(op, call, ", which is called: what runs is loaded",
                    "called here");
    return success();
  }

private:
  static LogicalResult refuse(StoredOp op, Operation *other, const char *why,
                              const char *note) {
    InFlightDiagnostic diag = op.emitOpError()
                              << "names " << op.getFunctionAttr() << why;
    diag.attachNote(other->getLoc()) << note;
    return diag;
  }

  ModuleOp module;
  SymbolTableCollection &symbols;
  llvm::DenseMap<SymbolRefAttr, Operation *> calls, firsts;
};

} // namespace

/// The last `stored` op verifies all such ops of the module.
LogicalResult StoredOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto module = cast<ModuleOp>((*this)->getParentOp());
  if (!isLastIn(module, *this, llvm::IsaPred<StoredOp>))
    return success();
  StoredFunctions functions(module, symbols);
  for (auto op : module.getOps<StoredOp>())
    if (failed(functions.verify(op)))
      return failure();
  return success();
}
