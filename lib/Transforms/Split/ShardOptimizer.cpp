//===- ShardOptimizer.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "../Bind/Strategy.h"
#include "Propagation.h"
#include "Seeds.h"
#include "WeightSplits.h"
#include "autopar/Dialect/Training/Training.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_SHARDOPTIMIZERPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct ShardOptimizerPass
    : autopar::transforms::impl::ShardOptimizerPassBase<ShardOptimizerPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    SmallVector<training::UpdateOp> updates;
    module.walk([&](training::UpdateOp op) { updates.push_back(op); });
    if (updates.empty())
      return;
    std::string replicas = "dp";
    ArrayRef<std::string> all = orNone(axes, replicas);
    auto dense = findAxes(module, all, "--shard-dp");
    auto experts = findAxes(module, orNone(expertAxes, all), "--shard-ep");
    if (failed(dense) || failed(experts))
      return signalPassFailure();
    auto axesOf = [&](Operation *op, Value weight) -> ArrayRef<StringAttr> {
      return isOfExperts(op, weight) ? *experts : *dense;
    };
    if (gradients)
      module.walk([&](training::AccumulateOp op) {
        split(op, axesOf(op, op.getWeight()));
      });
    for (training::UpdateOp op : updates)
      split(op, axesOf(op, op.getWeight()));
    propagateSplits(module);
    getStrategy(module).setZero(gradients ? 2 : 1);
  }

private:
  /// Whether the weight belongs to routed experts: it multiplies routed tokens
  /// in the forward.
  static bool isOfExperts(Operation *op, Value of) {
    transformer::WeightOp weight = training::findWeight(of);
    FunctionOpInterface forward =
        findWhole(op->getParentOfType<FunctionOpInterface>());
    bool found = false;
    forward.walk([&](transformer::WeightOp other) {
      found |= training::areSameTensor(weight, other) &&
               isWeightOfExperts(other.getResult());
    });
    return found;
  }

  /// Inserts, after `last`, the slice of `weight` that a replica updates, and
  /// makes it the operand. Returns null if the weight cannot be split, or is
  /// split over `axes` already.
  static AllSliceOp slice(OpOperand &weight, Value last,
                          ArrayRef<StringAttr> axes) {
    Value whole = weight.get();
    std::optional<unsigned> dim = largestWholeDim(whole);
    Layout layout = Layout::of(tensorOf(whole.getType()));
    bool isSplit =
        llvm::any_of(axes, [&](StringAttr axis) { return layout.uses(axis); });
    if (!dim || axes.empty() || isSplit)
      return {};
    OpBuilder builder(whole.getContext());
    builder.setInsertionPointAfterValue(last);
    ArrayAttr names =
        builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
    // Propagation will set the type of the slice from the type of its operand.
    auto part =
        AllSliceOp::create(builder, whole.getLoc(), whole.getType(), whole,
                           builder.getI64IntegerAttr(*dim), names);
    weight.set(part);
    return part;
  }

  /// Makes each replica sum the gradient of its part; the gradients of a
  /// microbatch are scattered before.
  static void split(training::AccumulateOp op, ArrayRef<StringAttr> axes) {
    slice(op.getWeightMutable(), op.getWeight(), axes);
  }

  /// Makes each replica update its part; propagation scatters the gradient for
  /// it.
  static void split(training::UpdateOp op, ArrayRef<StringAttr> axes) {
    Value weight = op.getWeight(), last = weight;
    SmallVector<OpOperand *> others;
    for (OpOperand &use : weight.getUses())
      if (isa<training::MomentumOp, training::MeanOp>(use.getOwner()))
        others.push_back(&use);
      else if (isa<training::GradientOp>(use.getOwner()))
        last = use.getOwner()->getResult(0);
    AllSliceOp part = slice(op.getWeightMutable(), last, axes);
    for (OpOperand *use : others)
      if (part)
        use->set(part);
  }
};

} // namespace
