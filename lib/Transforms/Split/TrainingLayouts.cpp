//===- TrainingLayouts.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingLayouts.h"

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Transforms/Split/Layouts.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

/// Returns `type` with the layout of `like`.
static Type layOutAs(Type type, Type like) {
  return withLayout(type, Layout::of(tensorOf(like)));
}

/// Returns the type of the part of the weight to which a gradient belongs, or
/// that of the whole weight.
static Type partOf(AccumulateOp op) {
  bool isPart = op.getWeight().getDefiningOp<AllSliceOp>() != nullptr;
  return isPart ? op.getWeight().getType()
                : Type(findWeight(op.getWeight()).getType());
}

/// Returns the type of the stored gradient. Its sum over axes that do not split
/// the weight may be reduced later, after all microbatches.
static Type keptTypeOf(AccumulateOp op) {
  Layout layout = Layout::of(tensorOf(partOf(op)));
  Layout sums = Layout::of(tensorOf(op.getGradient().getType()));
  for (StringAttr axis : sums.partial)
    if (!layout.uses(axis))
      layout.partial.push_back(axis);
  return withLayout(op.getGradient().getType(), layout);
}

/// Returns the type of the loop-carried value that `zeros` initialises; null if
/// it initialises none.
static Type carriedTypeOf(ZerosOp zeros) {
  for (OpOperand &use : zeros.getResult().getUses())
    if (auto loop = dyn_cast<LoopLikeOpInterface>(use.getOwner()))
      if (BlockArgument carried = loop.getTiedLoopRegionIterArg(&use))
        return carried.getType();
  return {};
}

std::optional<TrainingLayout>
autopar::transforms::findTrainingLayout(Operation *op) {
  if (isa<SaveOp>(op))
    return TrainingLayout();
  if (auto zeros = dyn_cast<ZerosOp>(op))
    return TrainingLayout{{}, carriedTypeOf(zeros)};
  if (auto saved = dyn_cast<SavedOp>(op)) {
    SaveOp save = findSave(saved);
    return TrainingLayout{{}, save ? save.getValue().getType() : Type()};
  }
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    return TrainingLayout{keptTypeOf(accumulate), {}};
  if (auto gradient = dyn_cast<GradientOp>(op)) {
    AccumulateOp kept = findAccumulate(gradient);
    return TrainingLayout{
        {},
        kept ? layOutAs(gradient.getType(), kept.getGradient().getType())
             : Type()};
  }
  if (auto assign = dyn_cast<AssignOp>(op))
    return TrainingLayout{assign.getWeight().getType(), {}};
  return std::nullopt;
}

/// Returns the weight of `function` that is the same tensor as `weight`; null
/// if there is none.
static WeightOp findNamesake(FunctionOpInterface function, WeightOp weight) {
  WeightOp found;
  function.walk([&](WeightOp other) {
    if (!found && areSameTensor(other, weight))
      found = other;
  });
  return found;
}

void autopar::transforms::layOutParts(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    FunctionOpInterface whole = findWhole(function);
    if (whole == function)
      continue;
    function.walk([&](WeightOp weight) {
      if (WeightOp first = findNamesake(whole, weight))
        weight.getResult().setType(first.getType());
    });
  }
}
