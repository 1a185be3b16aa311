//===- ModulePlan.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModulePlan.h"

#include "FactorSplits.h"
#include "MeshReader.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Plan/NeutralAxes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

using Names = std::vector<std::string>;

/// Whether layers take tokens that are split over `tp`: sequence parallelism.
static bool splitsTokensBetweenLayers(ModuleOp module, const Names &tp) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isPublic())
      continue;
    for (Type type : function.getArgumentTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      for (unsigned i = 0; tensor && i < TensorView(tensor).rank(); ++i) {
        DimRef dim = TensorView(tensor).dim(i);
        if (dim.extent == "query" &&
            llvm::any_of(dim.axes, [&](StringAttr axis) {
              return llvm::is_contained(tp, axis.getValue());
            }))
          return true;
      }
    }
  }
  return false;
}

/// Whether weights are gathered over `replicas` before they are used: FSDP,
/// which alone splits them unevenly. Caches have symbols.
static bool gathersParameters(ModuleOp module, const Names &replicas) {
  WalkResult found = module.walk([&](AllGatherOp gather) {
    DimRef dim = TensorView(gather.getInput()).dim(gather.getDim());
    bool isFsdp = isSource(gather.getInput()) && dim.extent.empty() &&
                  dim.rule == SplitRule::any &&
                  llvm::any_of(dim.axes, [&](StringAttr axis) {
                    return llvm::is_contained(replicas, axis.getValue());
                  });
    return isFsdp ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// How context parallelism works: rings go over all caches. Nothing where there
/// are none.
static std::optional<ContextKind> contextKindOf(const CostProgram &program) {
  for (const Collective &collective : program.collectives)
    if (collective.kind == CollectiveKind::ring)
      return ContextKind::ring;
  for (const Resident &cache : program.residents)
    if (cache.kind == Resident::Kind::kv_cache)
      return ContextKind::all_to_all;
  return std::nullopt;
}

/// The format that all values have, as --dtype would give them; nothing where
/// there are several. Caches and states have their own.
static std::optional<ElementType> formatOf(ModuleOp module) {
  llvm::SmallSetVector<Type, 2> formats;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        if (isa<FloatType>(type.getElementType()))
          formats.insert(type.getElementType());
  });
  return formats.size() == 1 ? toElementType(formats.front()) : std::nullopt;
}

static std::optional<ElementType> formatOfCaches(const CostProgram &program) {
  std::optional<ElementType> format;
  for (const Resident &cache : program.residents) {
    if (cache.kind != Resident::Kind::kv_cache)
      continue;
    if (format && *format != cache.type)
      return std::nullopt;
    format = cache.type;
  }
  return format;
}

static std::optional<ExpertPlan> expertPlanOf(ModuleOp module) {
  for (ExpertPlacementOp op : module.getOps<ExpertPlacementOp>()) {
    PlacementOptions options = op.getOptions();
    ExpertPlan plan;
    plan.policy = options.policy;
    plan.redundant = static_cast<int64_t>(op.getRedundant());
    plan.groupsInNode = options.groupsInNode;
    plan.tolerance = options.tolerance;
    plan.sources = {op.getLoad().str(), op.getTrace().str()};
    // Tables by hand: no flag says what they do.
    if (checkExpertPlan(plan)) {
      plan.policy.reset();
      plan.groupsInNode = false;
    }
    return plan;
  }
  return std::nullopt;
}

/// How routed tokens travel.
static void addDispatch(ModuleOp module, Plan &plan) {
  module.walk([&](AllToAllOp op) {
    plan.dispatchByNode |= op.isByNode();
    if (op.getFormat())
      plan.dispatchDtype = toElementType(*op.getFormat());
  });
}

/// The devices of the op's axis are `pp`.
static void addStages(StagesOp stages, Plan &plan) {
  std::string axis = cast<StringAttr>(stages.getAxes()[0]).str();
  if (axis != "pp")
    plan.setDegree("pp", {std::move(axis)});
  PipelinePlan &pipeline = plan.pipeline;
  pipeline.stages = stages.getRanges();
  pipeline.interleave = static_cast<int64_t>(stages.getInterleave());
  pipeline.schedule = parseScheduleKind(stages.getSchedule());
  pipeline.microbatches = static_cast<int64_t>(stages.getMicrobatches());
}

Result<Plan> autopar::planOf(ModuleOp module, const CostProgram &program) {
  Plan plan;
  for (MeshOp mesh : module.getOps<MeshOp>())
    plan = readMesh(mesh);
  if (std::optional<Error> error = completeDegrees(plan))
    return *error;
  plan.expertPlacement = expertPlanOf(module);
  for (StagesOp stages : module.getOps<StagesOp>())
    addStages(stages, plan);
  addDispatch(module, plan);
  plan.dtype = formatOf(module);
  plan.kvDtype = formatOfCaches(program);
  plan.sequenceParallel = splitsTokensBetweenLayers(module, plan.axesOf("tp"));
  Names replicas = plan.axesOf("dp"), contexts = plan.axesOf("cp");
  llvm::append_range(replicas, contexts);
  plan.fsdp = gathersParameters(module, replicas);
  if (plan.sizeOf("cp").value_or(1) > 1)
    plan.contextKind = contextKindOf(program);
  // Tables name the axes that they are about.
  if (!plan.expertPlacement) {
    dropNeutralDegrees(plan);
    dropNeutralAxes(plan);
  }
  return plan;
}
