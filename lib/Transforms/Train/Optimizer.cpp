//===- Optimizer.cpp - The update of a function's weights -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardBuilder.h"

#include "mlir/IR/SymbolTable.h"

#include <array>

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

/// Tensors with fewer elements keep states that are not quantised
/// (bitsandbytes, `min_8bit_size`).
static constexpr int64_t leastOf8Bits = 4096;
/// Number of Newton-Schulz iterations per update of Muon (Jordan et al., 2024).
static constexpr int64_t newtonSchulzSteps = 5;

namespace {

/// The range of dimensions that are the rows of a matrix, for ops that treat a
/// weight as a matrix.
using MatrixRows = std::array<int64_t, 2>;

/// How the ops of a forward use a weight: as a matrix or as a table.
struct WeightUses {
  explicit WeightUses(WeightOp weight) {
    int64_t rank = tensorOf(weight.getType()).getRank();
    for (OpOperand &use : weight.getResult().getUses())
      add(use);
    if (rows && (*rows)[1] >= rank)
      rows.reset();
  }

  /// The rows, if the weight is used as a matrix.
  std::optional<MatrixRows> rows;
  /// Whether the rows of the weight stand for tokens or positions.
  bool isTable = false;

private:
  void add(OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<EmbeddingOp, LogitsOp, PositionEmbeddingOp>(op)) {
      isTable = true;
      rows = {0, 1};
    } else if (auto linear = dyn_cast<LinearOp>(op)) {
      if (&use == &linear.getWeightMutable())
        rows = {0, linear.getNumContracted()};
    } else if (auto experts = dyn_cast<ExpertsOp>(op)) {
      if (&use == &experts.getWeightMutable())
        rows = {1, 2};
    } else if (auto router = dyn_cast<RouterOp>(op)) {
      if (&use == &router.getWeightMutable())
        rows = {0, 1};
    }
  }
};

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
    // A function that no gradient reaches has no update.
    if (func::FuncOp ofCallee = updateOf(callee))
      func::CallOp::create(builder, op->getLoc(), ofCallee, ValueRange());
    return success();
  }

  /// Builds the same loop in the update, which carries no values.
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
    if (block.empty())
      again.erase();
    else
      YieldOp::create(builder, repeat.getLoc(), ValueRange());
    return success();
  }

  /// Builds the update of a weight. A weight that the forward has several times
  /// is updated once; one that no gradient reaches (such as what only selects
  /// experts) is not updated.
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
    if (!findAccumulate(gradient)) {
      gradient.erase();
      weight.erase();
      return success();
    }
    AssignOp::create(builder, loc, step(forward, weight, gradient), weight);
    return success();
  }

  /// Returns the step that the optimizer makes for `weight`, which is `forward`
  /// in the forward.
  Value step(WeightOp forward, WeightOp weight, Value gradient) {
    WeightUses uses(forward);
    Type moments = choice.moments;
    switch (choice.kind) {
    case Optimizer::adamw:
      break;
    case Optimizer::adamw_8bit:
      if (tensorOf(weight.getType()).getNumElements() >= leastOf8Bits)
        moments = builder.getI8Type();
      break;
    case Optimizer::adafactor:
      return divideByMeans(weight, gradient, uses.rows);
    case Optimizer::muon:
      if (uses.rows && !uses.isTable)
        return orthogonalize(weight, gradient, *uses.rows);
      break;
    case Optimizer::sgd:
      return update(weight, gradient, OptimizerKind::sgd, {moments});
    case Optimizer::sgd_without_momentum:
      return update(weight, gradient, OptimizerKind::sgd, {});
    }
    return update(weight, gradient, OptimizerKind::adamw, {moments, moments});
  }

  Value update(WeightOp weight, Value gradient, OptimizerKind kind,
               ArrayRef<Type> moments, Value meanSquare = Value()) {
    // A weight in the format of the master copy is its own master copy.
    bool hasMaster =
        choice.master &&
        choice.master != tensorOf(weight.getType()).getElementType();
    SmallVector<Type> states;
    if (hasMaster)
      states.push_back(choice.master);
    llvm::append_range(states, moments);
    return UpdateOp::create(builder, weight.getLoc(), weight.getType(), weight,
                            gradient, meanSquare,
                            OptimizerKindAttr::get(builder.getContext(), kind),
                            hasMaster ? builder.getUnitAttr() : UnitAttr(),
                            builder.getTypeArrayAttr(states));
  }

  /// Returns the mean of `x`, or of its squares, over the dimensions `[begin,
  /// end)`; `weight` may be null.
  Value mean(Value x, Value weight, int64_t begin, int64_t end, bool squared) {
    ArrayRef<int64_t> all = tensorOf(x.getType()).getShape();
    SmallVector<int64_t> shape(all.take_front(begin));
    llvm::append_range(shape, all.drop_front(end));
    return MeanOp::create(builder, x.getLoc(),
                          RankedTensorType::get(shape, builder.getF32Type()), x,
                          weight, builder.getDenseI64ArrayAttr({begin, end}),
                          squared ? builder.getUnitAttr() : UnitAttr());
  }

  Value movingMean(Value mean) {
    return MovingMeanOp::create(builder, mean.getLoc(), mean.getType(), mean,
                                TypeAttr::get(choice.moments));
  }

  /// Adafactor: the states are means of squares of each row and each column of
  /// a matrix. If these are split, sums are exchanged between devices before
  /// the states are updated, and for the mean over all.
  Value divideByMeans(WeightOp weight, Value gradient,
                      std::optional<MatrixRows> rows) {
    int64_t rank = tensorOf(gradient.getType()).getRank();
    SmallVector<Value> means;
    DenseI64ArrayAttr matrix;
    if (rows) {
      auto [begin, end] = *rows;
      Value ofRows = mean(gradient, weight, end, rank, /*squared=*/true),
            ofColumns = mean(gradient, weight, begin, end, /*squared=*/true);
      means = {movingMean(ofRows), movingMean(ofColumns)};
      means.push_back(
          mean(means.front(), Value(), begin, end, /*squared=*/false));
      matrix = builder.getDenseI64ArrayAttr(*rows);
    } else {
      means = {movingMean(mean(gradient, weight, 0, 0, /*squared=*/true))};
    }
    Value step = PreconditionOp::create(
        builder, weight.getLoc(), gradient.getType(), gradient, means, matrix);
    return update(weight, step, OptimizerKind::adafactor, {},
                  mean(step, Value(), 0, rank, /*squared=*/true));
  }

  Value orthogonalize(WeightOp weight, Value gradient, MatrixRows rows) {
    Location loc = weight.getLoc();
    Value momentum =
        MomentumOp::create(builder, loc, weight.getType(), weight, gradient,
                           TypeAttr::get(choice.moments));
    Value direction =
        OrthogonalizeOp::create(builder, loc, momentum.getType(), momentum,
                                builder.getDenseI64ArrayAttr(rows),
                                builder.getI64IntegerAttr(newtonSchulzSteps));
    return update(weight, direction, OptimizerKind::sgd, {});
  }

  const OptimizerChoice &choice;
  llvm::function_ref<func::FuncOp(func::FuncOp)> updateOf;
  OpBuilder builder;
  SmallVector<WeightOp> updated;
};

} // namespace

LogicalResult autopar::transforms::buildUpdate(
    func::FuncOp forward, func::FuncOp update, const OptimizerChoice &choice,
    llvm::function_ref<func::FuncOp(func::FuncOp)> updateOf) {
  UpdateBuilder builder(update, choice, updateOf);
  if (failed(builder.run(forward.getBody().front())))
    return failure();
  builder.finish(forward.getLoc());
  return success();
}
