//===- TrainingDialect.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/BytecodeVersion.h"
#include "autopar/Interfaces/ModuleOps.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace autopar;
using namespace autopar::training;
using namespace mlir;

#include "autopar/Dialect/Training/TrainingDialect.cpp.inc"

namespace {

/// Forbids inlining of ops that save or read saved values: the function that
/// contains them determines to which layer a value belongs.
struct TrainingInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *op, Region *, bool,
                       IRMapping &) const override {
    return !isa<SaveOp, SavedOp>(op);
  }
};

} // namespace

void TrainingDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "autopar/Dialect/Training/TrainingOps.cpp.inc"
      >();
  addInterfaces<TrainingInlinerInterface, VersionedBytecode>();
}

/// Verifies that each function with `partOfAttribute` names another function of
/// the module that has no such attribute.
static LogicalResult verifyWholes(Operation *table) {
  llvm::DenseMap<StringAttr, FunctionOpInterface> functions;
  for (auto function : table->getRegion(0).getOps<FunctionOpInterface>())
    functions.try_emplace(function.getNameAttr(), function);
  LogicalResult result = success();
  forEachIn<FunctionOpInterface>(table, [&](FunctionOpInterface part) {
    auto name = part->getAttrOfType<FlatSymbolRefAttr>(partOfAttribute);
    if (!name || failed(result))
      return;
    FunctionOpInterface whole = functions.lookup(name.getAttr());
    if (!whole || whole == part)
      result = part->emitOpError()
               << "is a part of " << name << ", which is no other function";
    else if (whole->hasAttr(partOfAttribute))
      result = part->emitOpError()
               << "is a part of " << name << ", which is a part itself";
  });
  return result;
}

/// The last function with the attribute verifies all of the module's.
LogicalResult
TrainingDialect::verifyOperationAttribute(Operation *op,
                                          NamedAttribute attribute) {
  if (attribute.getName() != partOfAttribute)
    return success();
  Operation *table = SymbolTable::getNearestSymbolTable(op);
  if (!isa<FunctionOpInterface>(op) || !table ||
      !isa<FlatSymbolRefAttr>(attribute.getValue()))
    return op->emitOpError() << "has '" << partOfAttribute
                             << "', expected @name, on a function of a module";
  auto isPart = [](Operation *other) {
    return other->hasAttr(partOfAttribute);
  };
  return isLastIn(table, op, isPart) ? verifyWholes(table) : success();
}
