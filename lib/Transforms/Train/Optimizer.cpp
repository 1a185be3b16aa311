//===- Optimizer.cpp - The update of a function's weights -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardBuilder.h"

#include "mlir/IR/SymbolTable.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

namespace {

class UpdateBuilder {
public:
  UpdateBuilder(func::FuncOp update, const OptimizerChoice &choice,
                llvm::function_ref<func::FuncOp(func::FuncOp)> updateOf)
      : choice(choice), updateOf(updateOf), builder(update.getContext()) {
    builder.setInsertionPointToEnd(&update.getBody().front());
  }

  LogicalResult run(mlir::Block &block) {
    for (Operation &op : block)
      if (failed(visit(&op)))
        return failure();
    return success();
  }
  void finish(Location loc) { func::ReturnOp::create(builder, loc); }

private:
  LogicalResult visit(Operation *op) {
    if (auto weight = dyn_cast<WeightOp>(op))
      return update(weight);
    if (auto repeat = dyn_cast<RepeatOp>(op))
      return visitRepeat(repeat);
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      return success();
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    func::CallOp::create(builder, op->getLoc(), updateOf(callee), ValueRange());
    return success();
  }

  /// The same loop, which carries nothing.
  LogicalResult visitRepeat(RepeatOp repeat) {
    auto again =
        RepeatOp::create(builder, repeat.getLoc(), TypeRange(),
                         repeat.getCountAttr(), repeat.getPrefixAttr(),
                         repeat.getFirstAttr(), UnitAttr(), ValueRange());
    OpBuilder::InsertionGuard guard(builder);
    mlir::Block &block = again.getBody().emplaceBlock();
    builder.setInsertionPointToStart(&block);
    if (failed(run(repeat.getBody().front())))
      return failure();
    YieldOp::create(builder, repeat.getLoc(), ValueRange());
    return success();
  }

  /// Weights that the forward has several times are updated once.
  LogicalResult update(WeightOp forward) {
    for (WeightOp other : updated)
      if (areSameTensor(other, forward))
        return success();
    updated.push_back(forward);
    auto weight = cast<WeightOp>(builder.clone(*forward));
    Location loc = weight.getLoc();
    Type gradientType = RankedTensorType::get(
        tensorOf(weight.getType()).getShape(), choice.gradientFormat);
    auto gradient = GradientOp::create(builder, loc, gradientType, weight);
    auto made = UpdateOp::create(
        builder, loc, weight.getType(), weight, gradient,
        OptimizerKindAttr::get(builder.getContext(), choice.kind),
        choice.hasMaster ? builder.getUnitAttr() : UnitAttr(),
        builder.getTypeArrayAttr(choice.states));
    AssignOp::create(builder, loc, made, weight);
    return success();
  }

  const OptimizerChoice &choice;
  llvm::function_ref<func::FuncOp(func::FuncOp)> updateOf;
  OpBuilder builder;
  SmallVector<WeightOp> updated;
};

} // namespace

LogicalResult
autopar::buildUpdate(func::FuncOp forward, func::FuncOp update,
                     const OptimizerChoice &choice,
                     llvm::function_ref<func::FuncOp(func::FuncOp)> updateOf) {
  UpdateBuilder builder(update, choice, updateOf);
  if (failed(builder.run(forward.getBody().front())))
    return failure();
  builder.finish(forward.getLoc());
  return success();
}
