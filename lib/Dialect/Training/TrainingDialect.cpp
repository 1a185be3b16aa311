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

/// Which function saves a value says whose layer the value is of.
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

/// Each part names another function beside it that is no part.
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

/// The last part verifies all of the module.
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
