//===- Pipelines.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/Pipelines.h"

#include "ShardingPasses.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Runtime/Runtime.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Transforms/Estimate.h"
#include "autopar/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace autopar;
using namespace mlir;

namespace {

/// Turns options into passes. The plan is filled first, from the file and then
/// from the flags; every pass takes its options from it.
class PlanPipeline {
public:
  PlanPipeline(OpPassManager &pm, const PlanOptions &options,
               PipelineErrorHandler onError)
      : pm(pm), options(options), onError(onError) {}

  LogicalResult build() {
    if (failed(verifyPurpose()) || failed(verifyCounts()))
      return failure();
    if (!options.diffPlans.empty())
      return addDiff();
    if (failed(addPlan()))
      return failure();
    addEstimate();
    return success();
  }

private:
  /// Flags that only a report uses are an error without one, not a no-op.
  LogicalResult verifyPurpose() {
    if (!options.diffPlans.empty())
      return verifyDiff();
    if (!options.estimate.empty())
      return success();
    std::pair<StringRef, bool> flags[] = {
        {"explain", options.explain},
        {"impact", options.impact},
        {"trace", !options.trace.empty()},
        {"report-output", options.reportOutput.getNumOccurrences() != 0}};
    for (auto [flag, given] : flags)
      if (given)
        return onError("--" + flag + " has no effect without --estimate");
    return success();
  }

  /// Stages are balanced on the machine, and experts on its nodes.
  LogicalResult verifyMachine() {
    bool places =
        plan.expertPlacement && !plan.expertPlacement->sources.empty();
    if (!options.estimate.empty() || !options.diffPlans.empty() ||
        plan.pipeline.isGiven())
      return success();
    std::pair<StringRef, bool> flags[] = {
        {"hardware", !options.hardware.empty() && !places},
        {"nodes", options.nodes != 0},
        {"memory-utilization", options.memoryUtilization != 0}};
    for (auto [flag, given] : flags)
      if (given)
        return onError("--" + flag +
                       " has no effect without --estimate or --stage-pp");
    return success();
  }

  LogicalResult verifyDiff() {
    if (!options.plan.empty())
      return onError("--plan and --diff-plans exclude each other");
    for (auto [flag, given] : {std::pair("explain", bool(options.explain)),
                               std::pair("impact", bool(options.impact))})
      if (given)
        return onError(Twine("--") + flag +
                       " has no effect with --diff-plans: give --estimate and "
                       "--plan for each of the two");
    auto [first, second] = StringRef(options.diffPlans).split(',');
    if (first.empty() || second.empty() || second.contains(','))
      return onError("--diff-plans=" + options.diffPlans +
                     ": expected two files, as in --diff-plans=a.json,b.json");
    return success();
  }

  /// Adds what turns a module into the program of the plan.
  LogicalResult addPlan() {
    FailureOr<Plan> read = readPlanOptions(options, onError);
    if (failed(read))
      return failure();
    plan = std::move(*read);
    if (failed(verifyMachine()))
      return failure();
    addBindings();
    if (failed(addSharding()))
      return failure();
    addStages();
    return success();
  }

  /// Each plan on a copy of the module, whose name is the file's.
  LogicalResult addDiff() {
    auto [first, second] = StringRef(options.diffPlans).split(',');
    std::string files[] = {first.str(), second.str()};
    CloneModulePassOptions clone;
    clone.names = {files[0], files[1] + (first == second ? "#2" : "")};
    pm.addPass(createCloneModulePass(clone));
    DiffModulesPassOptions diff;
    for (auto [file, name] : llvm::zip_equal(files, clone.names)) {
      OpPassManager passes(ModuleOp::getOperationName());
      PlanOptions ofOne;
      ofOne.copyOptionValuesFrom(options);
      ofOne.plan = file;
      PlanPipeline one(passes, ofOne, onError);
      if (failed(one.addPlan()))
        return failure();
      RunOnModulePassOptions run;
      run.module = name;
      run.pipeline.clear();
      llvm::raw_string_ostream os(run.pipeline);
      passes.printAsTextualPipeline(os);
      pm.addPass(createRunOnModulePass(std::move(run)));
      diff.memoryUtilization.push_back(one.plan.memoryUtilization.value_or(0));
    }
    fillReport(diff);
    pm.addPass(createDiffModulesPass(std::move(diff)));
    return success();
  }

  /// Counts that are given must be in range: 0 does not mean "unset" to a user.
  LogicalResult verifyCounts() {
    std::tuple<StringRef, const PlanOptions::Option<int64_t> &, int64_t,
               int64_t>
        counts[] = {
            {"batch", options.batch, 1, limits::maxTokens},
            {"prompt", options.prompt, 1, limits::maxTokens},
            {"context", options.context, 1, limits::maxTokens},
            {"source", options.source, 0, limits::maxTokens},
            {"memory", options.memory, 0, limits::maxTokens},
            {"nodes", options.nodes, 1, limits::maxDevices},
            {"microbatches", options.microbatches, 1,
             limits::maxScheduledTasks},
            {"interleave", options.interleave, 1, limits::maxVirtualStages}};
    for (const auto &[flag, option, min, max] : counts)
      if (option.getNumOccurrences() && (option < min || option > max))
        return onError("--" + flag + "=" + std::to_string(option) +
                       ": expected a number from " + std::to_string(min) +
                       " to " + std::to_string(max));
    return success();
  }

  void addBindings() {
    bool bindsWorkload = !options.phase.empty() || options.batch ||
                         options.prompt || options.context ||
                         options.source >= 0 || options.memory >= 0;
    if (bindsWorkload) {
      BindWorkloadPassOptions bind;
      bind.phase = options.phase;
      bind.batch = options.batch;
      bind.prompt = options.prompt;
      bind.context = options.context;
      bind.source = options.source;
      bind.memory = options.memory;
      pm.addPass(createBindWorkloadPass(std::move(bind)));
    }
    AbsorbLatentAttentionPassOptions absorb;
    absorb.phase = nameOf(Phase::decode);
    pm.addPass(createAbsorbLatentAttentionPass(std::move(absorb)));
    if (std::unique_ptr<Pass> formats = createFormatsPass(plan))
      pm.addPass(std::move(formats));
  }

  /// The runtime pads the vocabulary: that is part of how weights are split.
  LogicalResult addSharding() {
    if (plan.axes.empty())
      return success();
    dropNeutralDegrees(plan);
    BindMeshPassOptions bind;
    bind.axes = meshText(plan);
    bind.neutral = llvm::to_vector(dropNeutralAxes(plan));
    pm.addPass(createBindMeshPass(std::move(bind)));
    if (plan.axes.empty())
      return success();
    Result<std::vector<Override>> overrides =
        parseOverrides({options.overrides.begin(), options.overrides.end()});
    if (!overrides)
      return onError("--set: " + overrides.error().str());
    std::vector<bool> used(overrides->size());
    Result<Runtime> read = readRuntime(
        options.runtime.empty() ? "vllm" : options.runtime.getValue(),
        *overrides, used);
    if (!read)
      return onError(read.error().str());
    runtime = std::make_shared<AppliedRuntime>(
        AppliedRuntime{std::move(*read), std::move(used)});
    for (std::unique_ptr<Pass> &pass : createShardingPasses(
             plan,
             static_cast<int64_t>(runtime->runtime.vocabularyMultiple.value)))
      pm.addPass(std::move(pass));
    pm.addPass(createInsertCollectivesPass());
    if (std::unique_ptr<Pass> dispatch = createDispatchPass(plan))
      pm.addPass(std::move(dispatch));
    addPlacementPass(pm, plan, options.hardware);
    return success();
  }

  void addStages() {
    if (!plan.pipeline.isGiven())
      return;
    StagePipelinePassOptions stages;
    const PipelinePlan &pipeline = plan.pipeline;
    stages.stages = rangesText(pipeline.stages);
    stages.interleave = pipeline.interleave.value_or(0);
    stages.microbatches = pipeline.microbatches.value_or(0);
    if (pipeline.schedule)
      stages.schedule = nameOf(*pipeline.schedule);
    stages.hardware = options.hardware;
    stages.nodes = options.nodes;
    stages.runtime = options.runtime;
    stages.overrides.assign(options.overrides.begin(), options.overrides.end());
    stages.memoryUtilization = plan.memoryUtilization.value_or(0);
    pm.addPass(createStagePipelinePass(std::move(stages)));
  }

  /// The options that all passes share that report.
  template <typename PassOptions>
  void fillReport(PassOptions &report) {
    report.hardware = options.hardware;
    report.nodes = options.nodes;
    report.runtime = options.runtime;
    report.overrides.assign(options.overrides.begin(), options.overrides.end());
    if (!options.estimate.empty())
      report.format = options.estimate;
    report.output = options.reportOutput;
    if (!options.phase.empty())
      report.given.push_back("phase");
    if (options.batch)
      report.given.push_back("batch");
    if (options.prompt || options.phase == "decode")
      report.given.push_back("query");
    if (options.prompt || options.context)
      report.given.push_back("context");
    if (options.source >= 0)
      report.given.push_back("source");
    if (plan.pipeline.microbatches)
      report.given.push_back("microbatches");
    if (plan.pipeline.schedule)
      report.given.push_back("schedule");
    if (options.memory >= 0)
      report.given.push_back("memory");
  }

  void addEstimate() {
    if (options.estimate.empty())
      return;
    EstimatePassOptions estimate;
    fillReport(estimate);
    estimate.memoryUtilization = plan.memoryUtilization.value_or(0);
    estimate.explain = options.explain;
    estimate.impact = options.impact;
    estimate.trace = options.trace;
    pm.addPass(createEstimatePass(std::move(estimate), runtime));
  }

  OpPassManager &pm;
  const PlanOptions &options;
  PipelineErrorHandler onError;
  Plan plan;
  /// Null where sharding has not needed it.
  std::shared_ptr<const AppliedRuntime> runtime;
};

} // namespace

LogicalResult autopar::addPlanPipeline(OpPassManager &pm,
                                       const PlanOptions &options,
                                       PipelineErrorHandler onError) {
  return PlanPipeline(pm, options, onError).build();
}

void autopar::registerPipelines() {
  registerPassPipeline(
      "autopar-plan",
      "Bind, shard and estimate as the product flags of autopar-opt do",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> onError) {
        PlanOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (pm.getOpAnchorName() != ModuleOp::getOperationName())
          return onError("autopar-plan works on builtin.module, not on " +
                         pm.getOpAnchorName());
        return addPlanPipeline(pm, options, onError);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(PlanOptions());
      });
}
