//===- PlanPasses.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/PlanPasses.h"

#include "PassList.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Support/Text.h"
#include "autopar/Transforms/Passes.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace mlir;

std::string autopar::pipelines::pipelineText(const OpPassManager &passes) {
  [[maybe_unused]] static const bool known = [] {
    registerAutoparPasses();
    return true;
  }();
  std::string text;
  llvm::raw_string_ostream os(text);
  passes.printAsTextualPipeline(os);
  return text;
}

/// Returns `plan` without the parts that a program for all sizes of axes does
/// not have.
static Plan withOpenSizes(Plan plan) {
  for (PlanAxis &axis : plan.axes)
    if (axis.size != 1)
      axis.size.reset();
  plan.pipeline = PipelinePlan();
  if (plan.expertPlacement) {
    ExpertPlan unplaced;
    unplaced.redundant = plan.expertPlacement->redundant;
    plan.expertPlacement = unplaced;
  }
  return plan;
}

/// Returns a plan with the axes of `plan` and with those degrees whose order of
/// axes layouts follow.
static Plan meshOfLayouts(const Plan &plan) {
  Plan mesh;
  mesh.axes = plan.axes;
  for (Degree degree : {Degree::dp, Degree::cp, Degree::tp})
    if (plan.degree(degree))
      mesh.setDegree(degree, plan.axesOf(degree));
  return mesh;
}

namespace {

/// Lists the passes of a request, in the order in which they run.
class Lister {
public:
  Lister(PlanRequest request, const PassSettings &settings)
      : request(std::move(request)), settings(settings),
        plan(this->request.plan) {
    if (settings.sizesAreOpen)
      plan = withOpenSizes(plan);
  }

  PassList take() {
    addTarget();
    addWorkload();
    addRequests();
    addFormats();
    if (trains())
      addForward();
    if (fits())
      addFitting();
    else
      addProgram();
    return std::move(list);
  }

private:
  /// Adds a pass to the list. `pass` is null if the plan does not need it; then
  /// nothing is added.
  void add(PassPhase phase, std::unique_ptr<Pass> pass,
           bool dependsOnSizes = false) {
    if (pass)
      list.push_back({std::move(pass), phase, dependsOnSizes});
  }

  void addTarget() {
    const Target &target = request.target;
    if (target == Target())
      return;
    BindTargetPassOptions bind;
    bind.hardware = target.hardware.value_or("");
    bind.nodes = target.nodes.value_or(0);
    bind.runtime = target.runtime.value_or("");
    bind.memoryUtilization = target.memoryUtilization.value_or(0);
    bind.prefillChunk = target.prefillChunk.value_or(-1);
    bind.maxNumSeqs = target.launch.maxSequences.value_or(0);
    bind.enforceEager = target.launch.eager;
    for (const Override &one : target.overrides)
      bind.overrides.push_back(one.path + "=" + formatNumber(one.value));
    add(PassPhase::bind, createBindTargetPass(std::move(bind)));
  }

  void addWorkload() {
    const WorkloadChoice &step = request.workload;
    if (!step.phase && !step.batch && !step.prompt && !step.context &&
        !step.encoderTokens && !step.crossTokens)
      return;
    BindWorkloadPassOptions bind;
    bind.phase = step.phase ? nameOf(*step.phase) : "";
    bind.batch = step.batch.value_or(0);
    bind.prompt = step.prompt.value_or(0);
    bind.context = step.context.value_or(0);
    bind.encoderTokens = step.encoderTokens.value_or(-1);
    bind.crossTokens = step.crossTokens.value_or(-1);
    add(PassPhase::bind, createBindWorkloadPass(std::move(bind)));
  }

  void addRequests() {
    const RequestsChoice &requests = request.requests;
    if (!requests.isGiven())
      return;
    BindRequestsPassOptions bind;
    bind.rate = requests.ratePerS.value_or(0);
    bind.concurrency = requests.concurrency.value_or(0);
    bind.prompt = requests.prompt;
    bind.output = requests.answer;
    bind.sla = requests.limits;
    add(PassPhase::bind,
        createBindRequestsPass(std::move(bind), requests.numbers));
  }

  void addFormats() {
    AbsorbLatentAttentionPassOptions absorb;
    absorb.phase = request.workload.isMixed ? "each" : nameOf(Phase::decode);
    add(PassPhase::bind, createAbsorbLatentAttentionPass(std::move(absorb)));
    add(PassPhase::formats,
        createFormatsPass(plan, !(request.target == Target()),
                          request.keepsRows && !settings.sizesAreOpen &&
                              !trains()));
  }

  bool trains() const { return request.workload.phase == Phase::train; }

  bool fits() const {
    return trains() && !settings.sizesAreOpen && plan.training.recompute &&
           plan.training.recompute->kind == Recomputation::Kind::fitting;
  }

  void addForward() { add(PassPhase::train, createTrainingPass(plan)); }

  /// Adds the rest of the list as text, which is parsed again for each trial.
  void addFitting() {
    Lister rest(request, settings);
    rest.addProgram();
    OpPassManager tried(ModuleOp::getOperationName());
    for (PlannedPass &one : rest.list)
      tried.addPass(std::move(one.pass));
    add(PassPhase::train, createFitRecomputationPass({pipelineText(tried)}),
        /*dependsOnSizes=*/true);
  }

  void addProgram() {
    if (trains())
      addBackward();
    addSharding();
    addStages();
  }

  void addBackward() {
    add(PassPhase::train, createBackwardPass(plan));
    plan.fsdp |= plan.training.zero == 3;
  }

  void addSharding() {
    if (plan.axes.empty())
      return;
    addMesh();
    // A program on a single device has no mesh, and sends nothing.
    if (plan.axes.empty())
      return;
    for (std::unique_ptr<Pass> &pass :
         createShardingPasses(plan, settings.vocabularyMultiple))
      add(PassPhase::split, std::move(pass));
    add(PassPhase::communicate, createInsertCollectivesPass(settings.reshards));
    add(PassPhase::communicate, createDispatchPass(plan));
    add(PassPhase::place, createPlacementPass(plan), hasTables());
  }

  void addMesh() {
    dropNeutralDegrees(plan);
    BindMeshPassOptions bind;
    bind.axes = meshText(settings.sizesAreOpen ? meshOfLayouts(plan) : plan);
    bind.neutral = llvm::to_vector(dropNeutralAxes(plan));
    add(PassPhase::mesh, createBindMeshPass(std::move(bind)));
  }

  bool hasTables() const {
    return plan.expertPlacement && !plan.expertPlacement->sources.empty();
  }

  void addStages() {
    if (!plan.pipeline.isGiven() && !trains())
      return;
    StagePipelinePassOptions stages;
    const PipelinePlan &pipeline = plan.pipeline;
    stages.stages = rangesText(pipeline.stages);
    stages.interleave = pipeline.interleave.value_or(0);
    stages.microbatches = pipeline.microbatches.value_or(0);
    stages.microBatch = pipeline.microBatch.value_or(0);
    if (pipeline.schedule)
      stages.schedule = nameOf(*pipeline.schedule);
    add(PassPhase::stage, createStagePipelinePass(std::move(stages)),
        /*dependsOnSizes=*/true);
  }

  PlanRequest request;
  const PassSettings &settings;
  Plan &plan;
  PassList list;
};

} // namespace

PassList autopar::pipelines::passesOf(PlanRequest request,
                                      const PassSettings &settings) {
  return Lister(std::move(request), settings).take();
}

/// Adds the passes of `request` up to the end of phase `last`.
static void addPasses(OpPassManager &pm, PlanRequest request, PassPhase last) {
  for (PlannedPass &one : passesOf(std::move(request)))
    if (one.phase <= last)
      pm.addPass(std::move(one.pass));
}

void autopar::pipelines::addPlanPasses(OpPassManager &pm, PlanRequest request) {
  addPasses(pm, std::move(request), PassPhase::stage);
}

void autopar::pipelines::addBindingPasses(OpPassManager &pm,
                                          PlanRequest request) {
  addPasses(pm, std::move(request), PassPhase::formats);
}
