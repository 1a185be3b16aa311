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
#include "autopar/Dialect/Transformer/Training.h"

namespace autopar {
#define GEN_PASS_DEF_SHARDOPTIMIZERPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct ShardOptimizerPass
    : autopar::impl::ShardOptimizerPassBase<ShardOptimizerPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    SmallVector<transformer::UpdateOp> updates;
    module.walk([&](transformer::UpdateOp op) { updates.push_back(op); });
    if (updates.empty())
      return;
    std::string replicas = "dp";
    ArrayRef<std::string> all = orNone(axes, replicas);
    auto dense = findAxes(module, all, "--shard-dp");
    auto experts = findAxes(module, orNone(expertAxes, all), "--shard-ep");
    if (failed(dense) || failed(experts))
      return signalPassFailure();
    for (transformer::UpdateOp op : updates)
      split(op, isOfExperts(op) ? *experts : *dense);
    propagateSplits(module);
    getStrategy(module).setZero(1);
  }

private:
  /// Experts are weights of products of routed tokens in their forward.
  static bool isOfExperts(transformer::UpdateOp op) {
    transformer::WeightOp weight = transformer::findWeight(op.getWeight());
    FunctionOpInterface forward =
        findWhole(op->getParentOfType<FunctionOpInterface>());
    bool found = false;
    forward.walk([&](transformer::WeightOp other) {
      found |= transformer::areSameTensor(weight, other) &&
               isWeightOfExperts(other.getResult());
    });
    return found;
  }

  /// Each replica updates its part.
  static void split(transformer::UpdateOp op, ArrayRef<StringAttr> axes) {
    std::optional<unsigned> dim = largestWholeDim(op.getWeight());
    Layout layout = Layout::of(tensorOf(op.getWeight().getType()));
    bool isSplit =
        llvm::any_of(axes, [&](StringAttr axis) { return layout.uses(axis); });
    if (!dim || axes.empty() || isSplit)
      return;
    OpBuilder builder(op);
    auto where = builder.getI64IntegerAttr(*dim);
    ArrayAttr names =
        builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
    // Propagation types both from what they are made of.
    Value part =
        AllSliceOp::create(builder, op.getLoc(), op.getWeight().getType(),
                           op.getWeight(), where, names);
    Value sum = ReduceScatterOp::create(builder, op.getLoc(),
                                        op.getGradient().getType(),
                                        op.getGradient(), where, names);
    op.getWeightMutable().assign(part);
    op.getGradientMutable().assign(sum);
  }
};

} // namespace
