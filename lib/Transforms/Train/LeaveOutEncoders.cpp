//===- LeaveOutEncoders.cpp - What text does not train --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingForms.h"

#include "autopar/Dialect/Training/Training.h"

#include "mlir/IR/SymbolTable.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// The ops and arguments from which a value of a function is computed.
class Makers {
public:
  void add(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return (void)arguments.insert(argument);
    Operation *op = value.getDefiningOp();
    if (ops.insert(op).second)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
            add(operand);
      });
  }

  /// Erases those ops and arguments of `entry` that have no uses any more.
  void eraseUnused(func::FuncOp entry) {
    mlir::Block &body = entry.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (ops.contains(&op) && op.use_empty())
        op.erase();
    for (BlockArgument argument : llvm::reverse(body.getArguments()))
      if (arguments.contains(argument) && argument.use_empty())
        (void)entry.eraseArgument(argument.getArgNumber());
  }

private:
  llvm::SmallPtrSet<Operation *, 16> ops;
  llvm::DenseSet<BlockArgument> arguments;
};

} // namespace

void autopar::transforms::eraseUncalled(ModuleOp module) {
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

/// Records that the encoders were left out, so that reports state it.
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

void autopar::transforms::leaveOutEncoders(ModuleOp module,
                                           func::FuncOp entry) {
  SymbolBindingOpInterface step = findWorkload(module);
  SmallVector<InsertOp> inserts;
  entry.walk([&](InsertOp op) {
    const NamedExtent &tokens = TensorView(op.getY()).extent(1);
    if (tokens.is("encoder_tokens"))
      inserts.push_back(op);
  });
  if (step.getWorkload().encoderTokens != 0 || inserts.empty())
    return;
  Makers makers;
  for (InsertOp op : inserts) {
    makers.add(op.getY());
    op.getResult().replaceAllUsesWith(op.getX());
    op.erase();
  }
  makers.eraseUnused(entry);
  eraseUncalled(module);
  sayLeftOut(module);
}
