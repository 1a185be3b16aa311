//===- ShardParameters.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "../Bind/Strategy.h"
#include "FactorSplits.h"
#include "Propagation.h"
#include "Seeds.h"
#include "WeightSplits.h"
#include "autopar/Dialect/Training/Training.h"

#include "llvm/ADT/SetVector.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_SHARDPARAMETERSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

bool autopar::transforms::isWeightOfExperts(Value weight) {
  return llvm::any_of(weight.getUsers(), [](Operation *user) {
    auto op = dyn_cast<ShardingOpInterface>(user);
    return op &&
           op.getShardingFactors().expertsOfResult(0) != ShardingFactors::none;
  });
}

std::optional<unsigned> autopar::transforms::largestWholeDim(Value weight) {
  TensorView view(weight);
  std::optional<unsigned> largest;
  for (unsigned dim = 0; dim < view.rank(); ++dim)
    if (view.dim(dim).isWhole() &&
        (!largest ||
         view.getType().getDimSize(dim) >= view.getType().getDimSize(*largest)))
      largest = dim;
  return largest;
}

namespace {

struct ShardParametersPass
    : autopar::transforms::impl::ShardParametersPassBase<ShardParametersPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    std::string replicas = "dp";
    ArrayRef<std::string> all = orNone(axes, replicas);
    auto dense = findAxes(module, all, "--shard-dp");
    auto experts = findAxes(module, orNone(expertAxes, all), "--shard-ep");
    if (failed(dense) || failed(experts))
      return signalPassFailure();
    // Layout ops are removed first, because forwards and backwards may reshard
    // a weight differently.
    if (!module.getOps<training::IterationOp>().empty())
      dropLayoutOps(module);
    Seeds ofDense(module, *dense), ofExperts(module, *experts);
    for (Value weight : findWeights(module))
      shard(cast<OpResult>(weight),
            isWeightOfExperts(weight) ? ofExperts : ofDense);
    propagateSplits(module);
    getStrategy(module).setFsdp(true);
  }

private:
  /// Returns the weights: sources whose extents are numbers.
  static llvm::SetVector<Value> findWeights(ModuleOp module) {
    llvm::SetVector<Value> weights;
    module.walk([&](ShardingOpInterface op) {
      for (Value operand : op->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (!source || source->getNumOperands() != 0 || isUpdated(operand))
          continue;
        TensorView view(operand);
        bool symbolic = false;
        for (unsigned dim = 0; dim < view.rank(); ++dim)
          symbolic |= view.isSymbolic(dim);
        if (!symbolic)
          weights.insert(operand);
      }
    });
    return weights;
  }

  /// Whether an update assigns the weight, and thus produces its part.
  static bool isUpdated(Value weight) {
    return llvm::any_of(weight.getUsers(), [](Operation *user) {
      return isa<training::AssignOp>(user);
    });
  }

  static void shard(OpResult weight, Seeds &seeds) {
    std::optional<unsigned> dim = largestWholeDim(weight);
    if (!dim)
      return;
    Type before = weight.getType();
    seeds.splitSource(weight, *dim, SplitRule::any);
    if (weight.getType() != before)
      gather(weight, *dim);
  }

  /// Inserts the gather of a weight before its first use, so that few weights
  /// are whole at a time.
  static void gather(OpResult weight, unsigned dim) {
    Operation *first = nullptr;
    Block *block = weight.getOwner()->getBlock();
    for (Operation *user : weight.getUsers())
      if (Operation *here = block->findAncestorOpInBlock(*user))
        if (!first || here->isBeforeInBlock(first))
          first = here;
    // A weight without a use is not gathered.
    if (!first)
      return;
    OpBuilder builder(first);
    RankedTensorType type = TensorView(weight).getType();
    Layout layout = Layout::of(type);
    ArrayRef<StringAttr> axes = layout.dims[dim].getAxes();
    ArrayAttr names =
        builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
    layout.dims[dim] = layout.dims[dim].withAxes({});
    auto gathered =
        AllGatherOp::create(builder, weight.getLoc(), withLayout(type, layout),
                            weight, builder.getI64IntegerAttr(dim), names);
    weight.replaceAllUsesExcept(gathered.getResult(), gathered);
  }
};

} // namespace
