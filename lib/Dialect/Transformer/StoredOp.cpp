//===- StoredOp.cpp - What a checkpoint has besides -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/Interfaces/CallInterfaces.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

FunctionOpInterface StoredOp::getStoredFunction() {
  return SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getFunctionAttr());
}

/// A call of `function` in `module`, null where nothing calls it.
static Operation *findCall(ModuleOp module, FlatSymbolRefAttr function) {
  Operation *found = nullptr;
  module.walk([&](CallOpInterface call) {
    auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
    if (callee != function)
      return WalkResult::advance();
    found = call;
    return WalkResult::interrupt();
  });
  return found;
}

LogicalResult StoredOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto module = cast<ModuleOp>((*this)->getParentOp());
  auto function =
      symbols.lookupSymbolIn<FunctionOpInterface>(module, getFunctionAttr());
  if (!function)
    return emitOpError() << "names " << getFunctionAttr()
                         << ", which is no function of its module";
  if (!function.isPrivate() || function.isDeclaration())
    return emitOpError() << "names " << getFunctionAttr()
                         << ", expected a private function with a body";
  auto refuse = [&](Operation *other, const char *why, const char *note) {
    InFlightDiagnostic diag = emitOpError()
                              << "names " << getFunctionAttr() << why;
    diag.attachNote(other->getLoc()) << note;
    return diag;
  };
  for (auto other : module.getOps<StoredOp>()) {
    if (other == *this)
      break;
    if (other.getFunctionAttr() == getFunctionAttr())
      return refuse(other, " a second time", "the first is here");
  }
  if (Operation *call = findCall(module, getFunctionAttr()))
    return refuse(call, ", which is called: what runs is loaded",
                  "called here");
  return success();
}
