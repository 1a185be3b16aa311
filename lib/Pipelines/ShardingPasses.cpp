//===- ShardingPasses.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassList.h"

#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Transforms/Passes.h"

using namespace autopar;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace mlir;

using Axes = SmallVector<std::string>;

namespace {

class ShardingPasses {
public:
  explicit ShardingPasses(const Plan &plan) : plan(plan) {}

  SmallVector<std::unique_ptr<Pass>> take(int64_t vocabularyMultiple) {
    addData();
    if (plan.has(Degree::dcp))
      passes.push_back(createShardDecodeContextPass({axesOf(Degree::dcp)}));
    if (plan.has(Degree::tp) ||
        (plan.has(Degree::ep) && !axesOf(Degree::etp).empty()))
      addTensor(vocabularyMultiple);
    addContext();
    if (plan.has(Degree::ep) && !axesOf(Degree::ep).empty())
      addExperts();
    if (plan.sequenceParallel && plan.has(Degree::tp))
      passes.push_back(createShardSequencePass({axesOf(Degree::tp)}));
    if (plan.fsdp)
      addParameters();
    else if (plan.training.zero.value_or(0) > 0)
      addOptimizer();
    return std::move(passes);
  }

private:
  Axes axesOf(Degree name) const {
    std::vector<std::string> axes = plan.axesOf(name);
    return Axes(axes.begin(), axes.end());
  }

  /// Returns `all` without the axes of the degree `name`.
  Axes less(Axes all, Degree name) const {
    Axes some = axesOf(name);
    llvm::erase_if(all, [&](const std::string &axis) {
      return llvm::is_contained(some, axis);
    });
    return all;
  }

  /// Returns `axes` as options spell them: an empty list is "none".
  static Axes orNone(Axes axes) { return axes.empty() ? Axes{"none"} : axes; }

  /// If attention uses only a part of tp, the remaining axes of tp split
  /// sequences.
  void addData() {
    Axes axes = axesOf(Degree::dp);
    if (plan.has(Degree::attention_tp))
      llvm::append_range(axes, less(axesOf(Degree::tp), Degree::attention_tp));
    if (!axes.empty())
      passes.push_back(createShardDataPass({axes}));
  }

  void addContext() {
    if (!plan.has(Degree::cp))
      return;
    ShardContextPassOptions context;
    context.axes = axesOf(Degree::cp);
    if (plan.contextKind)
      context.kind = nameOf(*plan.contextKind);
    passes.push_back(createShardContextPass(std::move(context)));
  }

  void addTensor(int64_t vocabularyMultiple) {
    ShardTensorPassOptions tensor;
    tensor.axes = orNone(axesOf(Degree::tp));
    Axes attention = axesOf(Degree::attention_tp);
    if (plan.has(Degree::attention_tp))
      tensor.attentionAxes = orNone(attention);
    // The axes of dcp split keys by tokens.
    if (plan.has(Degree::dcp))
      tensor.keyAxes = orNone(less(attention, Degree::dcp));
    if (plan.has(Degree::ep))
      tensor.expertAxes = orNone(axesOf(Degree::etp));
    tensor.vocabularyMultiple = vocabularyMultiple;
    passes.push_back(createShardTensorPass(std::move(tensor)));
  }

  void addExperts() {
    ShardExpertsPassOptions experts;
    experts.axes = axesOf(Degree::ep);
    if (plan.expertPlacement)
      experts.redundant = plan.expertPlacement->redundant;
    passes.push_back(createShardExpertsPass(std::move(experts)));
  }

  /// Returns the axes over which replicas of experts split parameters, without
  /// those that `Degree::fsdp` leaves out.
  Axes expertReplicas() const {
    Axes left = less(axesOf(Degree::dp), Degree::fsdp);
    llvm::append_range(left, less(axesOf(Degree::cp), Degree::fsdp));
    Axes experts = axesOf(Degree::edp);
    llvm::erase_if(experts, [&](const std::string &axis) {
      return llvm::is_contained(left, axis);
    });
    return experts;
  }

  void addParameters() {
    ShardParametersPassOptions parameters;
    parameters.axes = orNone(axesOf(Degree::fsdp));
    parameters.expertAxes = orNone(expertReplicas());
    passes.push_back(createShardParametersPass(std::move(parameters)));
  }

  void addOptimizer() {
    ShardOptimizerPassOptions optimizer;
    optimizer.axes = orNone(axesOf(Degree::fsdp));
    optimizer.expertAxes = orNone(expertReplicas());
    optimizer.gradients = plan.training.zero == 2;
    passes.push_back(createShardOptimizerPass(std::move(optimizer)));
  }

  const Plan &plan;
  SmallVector<std::unique_ptr<Pass>> passes;
};

} // namespace

std::unique_ptr<Pass>
autopar::pipelines::createPlacementPass(const Plan &plan) {
  std::vector<std::string> axes = plan.axesOf(Degree::ep);
  if (!plan.expertPlacement || axes.empty())
    return nullptr;
  const ExpertPlan &experts = *plan.expertPlacement;
  PlaceExpertsPassOptions place;
  place.axes = Axes(axes.begin(), axes.end());
  place.policy = nameOf(experts.options().policy);
  place.load = experts.sources.load;
  place.trace = experts.sources.trace;
  place.groupsInNode = experts.groupsInNode;
  place.tolerance = experts.tolerance;
  return createPlaceExpertsPass(std::move(place));
}

SmallVector<std::unique_ptr<Pass>>
autopar::pipelines::createShardingPasses(const Plan &plan,
                                         int64_t vocabularyMultiple) {
  return ShardingPasses(plan).take(vocabularyMultiple);
}

/// Returns `pass` with those of its options set that have the names of knobs of
/// `plan`.
static std::unique_ptr<Pass> withKnobs(std::unique_ptr<Pass> pass,
                                       const Plan &plan) {
  std::string options;
  for (const PlanKnob &knob : planKnobs())
    if (knob.pass && pass->getArgument() == knob.pass)
      if (std::optional<std::string> text = textOf(knob, plan))
        options += std::string(knob.flag) + "=" + *text + " ";
  (void)pass->initializeOptions(options, [](const Twine &why) {
    llvm::report_fatal_error(why);
    return failure();
  });
  return pass;
}

std::unique_ptr<Pass> autopar::pipelines::createTrainingPass(const Plan &plan) {
  PrepareTrainingPassOptions prepare;
  prepare.flash = !plan.training.unfusedAttention;
  return withKnobs(createPrepareTrainingPass(prepare), plan);
}

std::unique_ptr<Pass> autopar::pipelines::createBackwardPass(const Plan &plan) {
  const TrainingPlan &training = plan.training;
  BuildBackwardPassOptions backward;
  backward.stages = rangesText(plan.pipeline.stages);
  backward.stageCount = plan.sizeOf(Degree::pp).value_or(1) *
                        plan.pipeline.interleave.value_or(1);
  if (training.productFormat)
    backward.products = nameOf(*training.productFormat);
  backward.capacity = training.expertCapacityFactor.value_or(0);
  backward.padExperts = training.padsExpertsToCapacity;
  if (training.masterFormat)
    backward.master = training.masterFormat->format
                          ? nameOf(*training.masterFormat->format)
                          : "none";
  if (training.stateFormat)
    backward.moments = nameOf(*training.stateFormat);
  return withKnobs(createBuildBackwardPass(std::move(backward)), plan);
}

std::unique_ptr<Pass> autopar::pipelines::createFormatsPass(const Plan &plan,
                                                            bool runtimeDecides,
                                                            bool keepsRows) {
  if (!plan.dtype && !plan.kvDtype && !runtimeDecides && !keepsRows)
    return nullptr;
  ConvertFormatsPassOptions convert;
  convert.rows = keepsRows;
  if (plan.dtype)
    convert.compute = nameOf(*plan.dtype);
  if (plan.kvDtype)
    convert.kvCache = nameOf(*plan.kvDtype);
  else if (runtimeDecides)
    convert.kvCache = "auto";
  return createConvertFormatsPass(std::move(convert));
}

std::unique_ptr<Pass> autopar::pipelines::createDispatchPass(const Plan &plan) {
  if (!plan.dispatchByNode && !plan.dispatchDtype)
    return nullptr;
  DispatchTokensPassOptions dispatch;
  dispatch.byNode = plan.dispatchByNode;
  if (plan.dispatchDtype)
    dispatch.format = nameOf(*plan.dispatchDtype);
  return createDispatchTokensPass(std::move(dispatch));
}
