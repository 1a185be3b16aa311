//===- PlanPasses.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/PlanPasses.h"

#include "ShardingPasses.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Support/Text.h"
#include "autopar/Transforms/Passes.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
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

namespace {

class PlanPasses {
public:
  PlanPasses(OpPassManager &pm, PlanRequest request)
      : pm(pm), request(std::move(request)), plan(this->request.plan) {}

  void bind() {
    addTarget();
    addWorkload();
    addRequests();
    addFormats();
  }
  void add() {
    bind();
    addProgram();
  }

private:
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
    pm.addPass(createBindTargetPass(std::move(bind)));
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
    pm.addPass(createBindWorkloadPass(std::move(bind)));
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
    bind.cached = requests.cachedShare.value_or(-1);
    for (double share : requests.acceptance)
      bind.acceptance.push_back(share);
    bind.draftCost = requests.draftCost.value_or(-1);
    bind.sla = requests.limits;
    pm.addPass(createBindRequestsPass(std::move(bind)));
  }

  void addFormats() {
    AbsorbLatentAttentionPassOptions absorb;
    absorb.phase = request.workload.isMixed ? "each" : nameOf(Phase::decode);
    pm.addPass(createAbsorbLatentAttentionPass(std::move(absorb)));
    if (std::unique_ptr<Pass> formats =
            createFormatsPass(plan, !(request.target == Target())))
      pm.addPass(std::move(formats));
  }

  bool trains() const { return request.workload.phase == Phase::train; }

  bool fits() const {
    return plan.training.recompute &&
           plan.training.recompute->kind == Recomputation::Kind::fitting;
  }

  /// The rest of the pipeline, as a text that is parsed for each that is tried.
  void addFitting() {
    OpPassManager rest(ModuleOp::getOperationName());
    PlanPasses(rest, request).addTrainedProgram();
    pm.addPass(createFitRecomputationPass({pipelineText(rest)}));
  }

  void addProgram() {
    if (!trains()) {
      addSharding();
      addStages();
      return;
    }
    pm.addPass(createTrainingPass(plan));
    fits() ? addFitting() : addTrainedProgram();
  }

  void addTrainedProgram() {
    addBackward();
    addSharding();
    addStages();
  }

  void addBackward() {
    pm.addPass(createBackwardPass(plan));
    plan.fsdp |= plan.training.zero == 3;
  }

  void addSharding() {
    if (plan.axes.empty())
      return;
    dropNeutralDegrees(plan);
    BindMeshPassOptions bind;
    bind.axes = meshText(plan);
    bind.neutral = llvm::to_vector(dropNeutralAxes(plan));
    pm.addPass(createBindMeshPass(std::move(bind)));
    if (plan.axes.empty())
      return;
    for (std::unique_ptr<Pass> &pass :
         createShardingPasses(plan, /*vocabularyMultiple=*/0))
      pm.addPass(std::move(pass));
    pm.addPass(createInsertCollectivesPass());
    if (std::unique_ptr<Pass> dispatch = createDispatchPass(plan))
      pm.addPass(std::move(dispatch));
    addPlacementPass(pm, plan);
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
    pm.addPass(createStagePipelinePass(std::move(stages)));
  }

  OpPassManager &pm;
  PlanRequest request;
  Plan &plan;
};

} // namespace

void autopar::pipelines::addPlanPasses(OpPassManager &pm, PlanRequest request) {
  PlanPasses(pm, std::move(request)).add();
}

void autopar::pipelines::addBindingPasses(OpPassManager &pm,
                                          PlanRequest request) {
  PlanPasses(pm, std::move(request)).bind();
}
