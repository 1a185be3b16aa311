//===- StagePipeline.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Bind/Strategy.h"
#include "../Price/Estimator.h"
#include "../Price/StatedPlan.h"
#include "autopar/Transforms/Passes.h"

#include "autopar/Analysis/StageBorders.h"
#include "autopar/Cost/StageLayout.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Evaluate/Pipeline.h"
#include "autopar/Plan/Degrees.h"
#include "autopar/Program/Stages.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_STAGEPIPELINEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::evaluation;
using namespace autopar::parallel;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct StagePipelinePass
    : autopar::transforms::impl::StagePipelinePassBase<StagePipelinePass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    if (!module.getOps<transformer::RequestsOp>().empty()) {
      (void)emitError(module, requestsOverStages());
      return signalPassFailure();
    }
    CostProgramAnalysis analysis(module);
    if (!analysis.isValid() || failed(run(module, analysis.getProgram())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module, const CostProgram &program) {
    FailureOr<EstimateInputs> inputs = inputsOf(module, getTarget());
    if (failed(inputs))
      return failure();
    Plan &plan = inputs->plan;
    if (failed(readOptions(module, plan)))
      return failure();
    plan.pipeline = completePipeline(plan, findWorkload(module).getWorkload());
    if (plan.pipeline.stages.empty() && isOfEqualStages(plan))
      plan.pipeline.stages = equalStages(plan, program);
    bool isBalanced = plan.pipeline.stages.empty();
    if (isBalanced && failed(balance(module, program, *inputs)))
      return failure();
    if (failed(verifyCoverage(plan.pipeline.stages, program,
                              [&] { return module.emitError(); })))
      return failure();
    createStages(module, plan.pipeline, plan.has(Degree::pp),
                 assumed(module, isBalanced && plan.has(Degree::pp)));
    return success();
  }

  static bool trains(ModuleOp module) {
    SymbolBindingOpInterface step = findWorkload(module);
    return step && step.getWorkload().phase == Phase::train;
  }

  /// Reads the options of the pass into the plan's pipeline.
  LogicalResult readOptions(ModuleOp module, Plan &plan) {
    PipelinePlan &pipeline = plan.pipeline;
    pipeline = PipelinePlan();
    if (!plan.has(Degree::pp) && !trains(module))
      return module.emitError("the mesh has no axis 'pp' for pipeline stages: "
                              "give --stage-pp=N");
    if (interleave != 0)
      pipeline.interleave = interleave;
    if (microbatches != 0)
      pipeline.microbatches = microbatches;
    if (microBatch != 0)
      pipeline.microBatch = microBatch;
    if (!schedule.empty()) {
      pipeline.schedule = parseScheduleKind(schedule);
      if (!pipeline.schedule)
        return module.emitError() << "unknown schedule '" << schedule
                                  << "', expected " << scheduleChoices();
    }
    if (!stages.empty()) {
      Result<std::vector<LayerRange>> ranges = parseRanges(stages);
      if (!ranges)
        return emitError(module, ranges.error());
      pipeline.stages = std::move(*ranges);
    }
    std::optional<Error> error = checkChoices(plan, trains(module));
    return error ? emitError(module, *error) : success();
  }

  /// Whether the plan recomputes a fixed number of layers per stage, for which
  /// backwards were written.
  static bool isOfEqualStages(const Plan &plan) {
    return plan.training.recompute &&
           plan.training.recompute->layersOfStage > 0;
  }

  static std::vector<LayerRange> equalStages(const Plan &plan,
                                             const CostProgram &program) {
    Result<std::vector<uint32_t>> layers = layersInOrder(program);
    if (!layers)
      return {};
    return equalRanges(static_cast<int64_t>(layers->size()),
                       plan.sizeOf(Degree::pp).value_or(1) *
                           *plan.pipeline.interleave);
  }

  /// Divides the layers into stages by cost, within the memory limit if
  /// possible.
  LogicalResult balance(ModuleOp module, const CostProgram &program,
                        EstimateInputs &inputs) {
    Result<StagingProblem> problem =
        stagingProblem(program, inputs.plan, inputs.machine, inputs.runtime,
                       findWorkload(module).getWorkload());
    if (!problem)
      return emitError(module, problem.error());
    Result<std::vector<uint32_t>> layers = layersInOrder(program);
    if (!layers)
      return emitError(module, layers.error());
    Result<StagePartition> partition =
        cost::layOutLayers(program, *layers, *problem);
    if (!partition)
      return emitError(module, partition.error());
    std::optional<Error> above = exceedsMemory(*problem, *partition);
    // In training, the least possible excess of memory is not computed, because
    // autopar-fit-recomputation tries many plans that do not fit.
    if (above && !trains(module))
      if (Result<StagePartition> least = partitionStages(*problem); !least)
        above = least.error();
    if (above && partition->ranges.size() > 1)
      module.emitWarning() << above->message << "; balanced by time alone";
    inputs.plan.pipeline.stages = partition->ranges;
    return success();
  }

  /// Returns the fields that the pass chose itself. In training, the stages
  /// depend on the times of layers, and thus on what is recomputed.
  ArrayAttr assumed(ModuleOp module, bool isCut) {
    SmallVector<StringRef> words;
    if (microbatches == 0 && microBatch == 0)
      words.push_back("microbatches");
    if (schedule.empty())
      words.push_back("schedule");
    if (isCut && trains(module))
      words.push_back("stages");
    return Builder(module.getContext()).getStrArrayAttr(words);
  }

  static void createStages(ModuleOp module, const PipelinePlan &pipeline,
                           bool hasAxis, ArrayAttr assumed) {
    for (auto old :
         llvm::make_early_inc_range(module.getOps<MicrobatchesOpInterface>()))
      old.erase();
    OpBuilder builder = builderOfFacts(module);
    for (MeshOp mesh : module.getOps<MeshOp>())
      builder.setInsertionPointAfter(mesh);
    if (!hasAxis) {
      training::MicrobatchesOp::create(builder, module.getLoc(),
                                       *pipeline.microbatches,
                                       *pipeline.schedule, assumed);
      return;
    }
    SmallVector<int64_t> ends;
    for (const LayerRange &range : pipeline.stages)
      ends.push_back(range.end);
    StagesOp::create(builder, module.getLoc(),
                     builder.getStrArrayAttr(StringRef(nameOf(Degree::pp))),
                     ends, *pipeline.interleave, *pipeline.schedule,
                     *pipeline.microbatches, assumed);
  }
};

} // namespace
