//===- LeaveOutEncoders.cpp - What text does not train --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingForms.h"

#include "autopar/Dialect/Transformer/Training.h"

#include "mlir/IR/SymbolTable.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// Erases what nobody asks for any more.
class Unused {
public:
  explicit Unused(func::FuncOp entry) : entry(entry) {}

  void add(Value value) {
    if (!value.use_empty())
      return;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return (void)entry.eraseArgument(argument.getArgNumber());
    Operation *op = value.getDefiningOp();
    if (!op->use_empty())
      return;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    // One that was an operand twice is gone after its first turn.
    llvm::SmallPtrSet<void *, 4> seen;
    for (Value operand : operands)
      if (seen.insert(operand.getAsOpaquePointer()).second)
        add(operand);
  }

private:
  func::FuncOp entry;
};

} // namespace

/// Private functions that nobody calls.
static void eraseUncalled(ModuleOp module) {
  SmallVector<func::FuncOp> uncalled;
  do {
    uncalled.clear();
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPrivate() &&
          SymbolTable::symbolKnownUseEmpty(function, module))
        uncalled.push_back(function);
    for (func::FuncOp function : uncalled)
      function.erase();
  } while (!uncalled.empty());
}

/// Reports name it.
static void sayLeftOut(ModuleOp module) {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> notes;
  if (auto known =
          module->getAttrOfType<ArrayAttr>(DefaultAttr::moduleAttribute))
    llvm::append_range(notes, known);
  notes.push_back(DefaultAttr::get(
      context, "encoders",
      StringAttr::get(context, "left out, text does not train them"),
      StringAttr::get(context, "workload: encoder_tokens = 0; set with "
                               "--encoder-tokens")));
  module->setAttr(DefaultAttr::moduleAttribute, ArrayAttr::get(context, notes));
}

void autopar::leaveOutEncoders(ModuleOp module, func::FuncOp entry) {
  SymbolBindingOpInterface step = findWorkload(module);
  SmallVector<InsertOp> inserts;
  entry.walk([&](InsertOp op) {
    const NamedExtent &tokens = TensorView(op.getY()).extent(1);
    if (tokens.is("encoder_tokens"))
      inserts.push_back(op);
  });
  if (step.getWorkload().encoderTokens != 0 || inserts.empty())
    return;
  Unused unused(entry);
  for (InsertOp op : inserts) {
    Value inserted = op.getY();
    op.getResult().replaceAllUsesWith(op.getX());
    op.erase();
    unused.add(inserted);
  }
  eraseUncalled(module);
  sayLeftOut(module);
}
