//===- StatedPlan.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatedPlan.h"

#include "../Bind/MeshReader.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/Text.h"
#include "autopar/Transforms/Bind/Target.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

static std::optional<ElementType> formatOf(std::optional<Type> type) {
  return type ? toElementType(*type) : std::nullopt;
}

static std::optional<ExpertPlan> expertPlanOf(ModuleOp module) {
  for (ExpertPlacementOp op : module.getOps<ExpertPlacementOp>()) {
    PlacementOptions options = op.getOptions();
    ExpertPlan plan;
    plan.policy = options.policy;
    plan.redundant = static_cast<int64_t>(op.getRedundant());
    plan.groupsInNode = options.groupsInNode;
    plan.tolerance = options.tolerance;
    plan.sources = {op.getLoadsFrom().str(), op.getTraceFrom().str()};
    // Tables that were written by hand cannot be expressed by flags, so that
    // the choices are dropped.
    if (checkExpertPlan(plan)) {
      plan.policy.reset();
      plan.groupsInNode = false;
    }
    return plan;
  }
  return std::nullopt;
}

/// Adds the format in which routed tokens are sent, and whether they are sent
/// once to each node.
static void addDispatch(ModuleOp module, Plan &plan) {
  module.walk([&](AllToAllOp op) {
    plan.dispatchByNode |= op.isByNode();
    if (op.getFormat())
      plan.dispatchDtype = toElementType(*op.getFormat());
  });
}

/// Adds the pipeline stages; the degree pp is the axis of the op.
static void addStages(StagesOp stages, Plan &plan) {
  for (auto axis : stages.getAxes().getAsRange<StringAttr>())
    if (axis.getValue() != StringRef(nameOf(Degree::pp)))
      plan.setDegree(Degree::pp, {axis.str()});
  PipelinePlan &pipeline = plan.pipeline;
  pipeline.stages = stages.getRanges();
  pipeline.interleave = static_cast<int64_t>(stages.getInterleave());
  pipeline.schedule = stages.getSchedule();
  pipeline.microbatches = static_cast<int64_t>(stages.getMicrobatches());
}

/// Adds microbatches without a pipeline: a single stage has all layers.
static void addMicrobatches(training::MicrobatchesOp op,
                            PipelinePlan &pipeline) {
  pipeline.interleave = 1;
  pipeline.schedule = op.getSchedule();
  pipeline.microbatches = static_cast<int64_t>(op.getMicrobatches());
}

static autopar::plan::ContextKind kindOf(parallel::ContextKind kind) {
  switch (kind) {
  case parallel::ContextKind::ring:
    return autopar::plan::ContextKind::ring;
  case parallel::ContextKind::all_to_all:
    return autopar::plan::ContextKind::all_to_all;
  case parallel::ContextKind::all_gather:
    return autopar::plan::ContextKind::all_gather;
  }
  llvm_unreachable("all kinds are listed");
}

/// Returns a recorded value as the text of its flag.
static std::string textOf(Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  if (auto number = dyn_cast<IntegerAttr>(value))
    return llvm::toString(number.getValue(), 10, /*Signed=*/true);
  if (auto number = dyn_cast<FloatAttr>(value))
    return formatNumber(number.getValueAsDouble());
  return "true";
}

/// Adds the choices that neither types nor ops show, as the strategy op records
/// them.
static std::optional<Error> addKnobs(StrategyOp strategy, Plan &plan) {
  DictionaryAttr knobs = strategy.getKnobsAttr();
  if (!knobs)
    return std::nullopt;
  for (NamedAttribute stated : knobs) {
    StringRef name = stated.getName();
    auto knob = llvm::find_if(planKnobs(), [&](const PlanKnob &one) {
      return one.flag && name == one.flag;
    });
    auto refuse = [&](const std::string &why) {
      return Error{"", "parallel.strategy: knob " + name.str() + ": " + why,
                   ""};
    };
    if (knob == planKnobs().end())
      return refuse("there is none of this name");
    if (auto expected = knob->set(plan, textOf(stated.getValue())))
      return refuse("expected " + *expected);
  }
  return std::nullopt;
}

/// Adds the choices of the strategy op that make a difference; those about axes
/// of one device make none.
static void addStrategy(StrategyOp strategy, Plan &plan) {
  auto splits = [&](Degree degree) {
    return plan.sizeOf(degree).value_or(0) != 1;
  };
  bool hasReplicas =
      splits(Degree::dp) || splits(Degree::cp) || splits(Degree::edp);
  plan.sequenceParallel = strategy.getSequenceParallel() && splits(Degree::tp);
  plan.fsdp = strategy.getFsdp() && hasReplicas;
  if (strategy.getContextKind() && splits(Degree::cp))
    plan.contextKind = kindOf(*strategy.getContextKind());
  if (strategy.getZero() && hasReplicas)
    plan.training.zero = static_cast<int64_t>(*strategy.getZero());
  plan.dtype = formatOf(strategy.getDtype());
  plan.kvDtype = formatOf(strategy.getKvDtype());
}

static void addTraining(training::IterationOp op, TrainingPlan &training) {
  if (op.getRecompute())
    training.recompute = op.getRecompute()->getRecomputation();
  if (op.getTried())
    for (auto [what, bytes] : llvm::zip_equal(
             op.getTried()->getAsRange<training::RecomputationAttr>(),
             *op.getMissing()))
      training.tried.push_back({what.getRecomputation(), bytes});
  training.productFormat = formatOf(op.getProducts());
  if (op.getCapacity())
    training.expertCapacityFactor = op.getCapacity()->convertToDouble();
  training.padsExpertsToCapacity = op.getPadded();
}

/// Adds the number of layers that predict further tokens: each has a loss of
/// its own.
static void addFurtherTokens(ModuleOp module, TrainingPlan &training) {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPublic() && function.getNumResults() > 1)
      training.mtpLayers = function.getNumResults() - 1;
}

static void addLoss(ModuleOp module, TrainingPlan &training) {
  module.walk([&](training::CrossEntropyOp op) {
    if (op.getForm())
      training.loss = parseLossForm(*op.getForm());
    if (op.getChunks())
      training.lossChunks = *op.getChunks();
  });
}

/// Returns the optimizer of an update, as far as its states tell.
static Optimizer optimizerOf(training::UpdateOp op) {
  ArrayRef<Attribute> states = op.getStates().getValue();
  switch (op.getOptimizer()) {
  case training::OptimizerKind::adafactor:
    return Optimizer::adafactor;
  case training::OptimizerKind::sgd:
    return op.getNumMoments() > 0 ? Optimizer::sgd
                                  : Optimizer::sgd_without_momentum;
  case training::OptimizerKind::adamw:
    break;
  }
  return cast<TypeAttr>(states.back()).getValue().isInteger()
             ? Optimizer::adamw_8bit
             : Optimizer::adamw;
}

/// Adds the optimizer and its number formats, if they are not the defaults.
static void addUpdates(ModuleOp module, TrainingPlan &training) {
  std::optional<Optimizer> optimizer;
  std::optional<ElementType> gradient, state;
  FormatOrNone master;
  module.walk([&](Operation *op) {
    if (auto read = dyn_cast<training::GradientOp>(op))
      gradient = formatOf(tensorOf(read.getType()).getElementType());
    if (isa<training::MomentumOp>(op))
      optimizer = Optimizer::muon;
    if (auto kept = dyn_cast<training::MovingMeanOp>(op))
      state = formatOf(kept.getState());
    auto update = dyn_cast<training::UpdateOp>(op);
    if (!update)
      return;
    // An update by AdamW does not tell the optimizer: adamw-8bit keeps wider
    // states of small tensors, and muon updates tables by AdamW.
    if (!optimizer || *optimizer == Optimizer::adamw)
      optimizer = optimizerOf(update);
    SmallVector<Type> states =
        llvm::to_vector(update.getStates().getAsValueRange<TypeAttr>());
    if (update.getMaster())
      master.format = formatOf(states.front());
    if (update.getNumMoments() > 0 && !states.back().isInteger())
      state = formatOf(states.back());
  });
  if (!optimizer)
    return;
  if (optimizer != Optimizer::adamw)
    training.optimizer = optimizer;
  if (gradient != ElementType::f32)
    training.gradientFormat = gradient;
  if (master.format != ElementType::f32)
    training.masterFormat = master;
  if (state && state != ElementType::f32)
    training.stateFormat = state;
}

Result<Plan> autopar::transforms::planOf(ModuleOp module) {
  Plan plan;
  for (MeshOp mesh : module.getOps<MeshOp>())
    plan = readMesh(mesh);
  if (std::optional<Error> error = completeDegrees(plan))
    return *error;
  plan.expertPlacement = expertPlanOf(module);
  for (StagesOp stages : module.getOps<StagesOp>())
    addStages(stages, plan);
  for (auto microbatches : module.getOps<training::MicrobatchesOp>())
    addMicrobatches(microbatches, plan.pipeline);
  addDispatch(module, plan);
  for (StrategyOp strategy : module.getOps<StrategyOp>()) {
    addStrategy(strategy, plan);
    if (std::optional<Error> error = addKnobs(strategy, plan))
      return *error;
  }
  for (auto training : module.getOps<training::IterationOp>()) {
    addTraining(training, plan.training);
    addFurtherTokens(module, plan.training);
    addLoss(module, plan.training);
    addUpdates(module, plan.training);
  }
  Target target = targetOf(module);
  plan.memoryUtilization = target.memoryUtilization;
  plan.prefillChunk = target.prefillChunk;
  plan.maxSequences = target.launch.maxSequences;
  plan.eager = target.launch.eager;
  // Axes that change nothing are dropped, unless placement tables name them.
  if (!plan.expertPlacement) {
    dropNeutralDegrees(plan);
    dropNeutralAxes(plan);
  }
  return plan;
}
