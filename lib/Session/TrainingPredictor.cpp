//===- TrainingPredictor.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingPredictor.h"

#include "SessionState.h"
#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/Pipelines/PlanPasses.h"
#include "autopar/Pipelines/RuntimeDefaults.h"
#include "autopar/Plan/Degrees.h"
#include "autopar/Transforms/Price/Estimate.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::transforms;
using namespace autopar::validation;
using namespace mlir;

struct TrainingPredictor::State {
  explicit State(std::vector<Override> overrides)
      : overrides(std::move(overrides)), hardware(this->overrides),
        diagnostics(&context, warn) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.printOpOnDiagnostic(false);
  }

  Result<TrainingPrediction> predict(ModuleOp module, const TrainedRun &run);
  Result<Report> estimate(ModuleOp module, PassManager &passes);

  Result<std::vector<Override>> overridesOf(const TrainedRun &run);

  std::vector<Override> overrides;
  HardwareLibrary hardware;
  std::set<std::string> owners;
  Session::Warn warn;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  Diagnostics diagnostics;
  /// The predictions that were made, by the text of the model and of the
  /// passes, because rows repeat plans.
  std::map<std::string, TrainingPrediction> known;
};

TrainingPredictor::TrainingPredictor(std::vector<Override> overrides)
    : state(std::make_unique<State>(std::move(overrides))) {}
TrainingPredictor::~TrainingPredictor() = default;

const std::set<std::string> &TrainingPredictor::owners() const {
  return state->owners;
}

/// Adds the mesh of the run's degrees, with pipeline stages outermost.
static std::optional<Error> addMesh(const TrainedPlan &run, Plan &plan) {
  Degrees degrees;
  degrees.tp = run.tp;
  degrees.dp = run.dp;
  degrees.cp = run.cp;
  if (run.zeroStage > 0 && run.zeroDevices < run.dp * run.cp)
    degrees.fsdp = run.zeroDevices;
  if (run.ep > 1) {
    degrees.ep = run.ep;
    degrees.etp = run.expertTp;
  }
  Result<MeshPlan> mesh = planMesh(degrees);
  if (!mesh)
    return mesh.error();
  if (run.pp > 1)
    plan.setAxis(Degree::pp, run.pp);
  setMesh(plan, *mesh);
  return completeDegrees(plan);
}

static std::optional<ElementType> productFormatOf(TrainingFormat format) {
  switch (format) {
  case TrainingFormat::fp16:
  case TrainingFormat::bf16:
    return std::nullopt;
  case TrainingFormat::fp8:
  case TrainingFormat::mxfp8:
    return ElementType::fp8_e4m3;
  case TrainingFormat::nvfp4:
    return ElementType::fp4;
  }
  return std::nullopt;
}

/// Returns the overrides, except those for runtimes and machines of other rows.
Result<std::vector<Override>>
TrainingPredictor::State::overridesOf(const TrainedRun &run) {
  std::vector<Override> own;
  if (overrides.empty())
    return own;
  Result<Machine> machine = hardware.machine(run.system, run.nodes);
  if (!machine)
    return machine.error();
  std::set<std::string> read = {
      std::string("runtimes.") + nameOf(run.plan.runtime),
      "systems." + machine->name, "systems.*", "chips.*"};
  for (const Pool &pool : machine->pools)
    read.insert("chips." + pool.chip.name);
  for (const Override &override : overrides)
    if (read.count(ownerOf(override)))
      own.push_back(override);
  owners.merge(read);
  return own;
}

/// Overrides a figure that the row's recipe sets, only for this row.
static void setFigure(const TrainedPlan &plan, const char *figure, double value,
                      std::vector<Override> &overrides) {
  Override own{std::string("runtimes.") + nameOf(plan.runtime) + ".training." +
                   figure,
               value};
  llvm::erase_if(overrides,
                 [&](const Override &given) { return given.path == own.path; });
  overrides.push_back(std::move(own));
}

static Result<PlanRequest> requestOf(const TrainedRun &run,
                                     std::vector<Override> overrides) {
  const TrainedPlan &plan = run.plan;
  PlanRequest request;
  if (auto error = addMesh(plan, request.plan))
    return *error;
  request.plan.sequenceParallel = plan.sequenceParallel && plan.tp > 1;
  request.plan.fsdp = plan.zeroStage == 3;
  request.plan.training.recompute = plan.recomputation;
  request.plan.training.unfusedAttention = plan.unfusedAttention;
  request.plan.training.dropout = plan.dropout;
  request.plan.training.mtpLayers = plan.mtpLayers;
  if (plan.narrowGradients)
    request.plan.training.gradientFormat = ElementType::bf16;
  request.plan.training.productFormat = productFormatOf(plan.format);
  if (plan.zeroStage == 1 || plan.zeroStage == 2)
    request.plan.training.zero = plan.zeroStage;
  PipelinePlan &pipeline = request.plan.pipeline;
  pipeline.interleave = plan.interleave;
  pipeline.microbatches = plan.microbatches;
  request.target.hardware = run.system;
  request.target.nodes = run.nodes;
  request.target.runtime = nameOf(plan.runtime);
  if (plan.overlapsDispatch)
    setFigure(plan, "hidden_dispatch", 1, overrides);
  if (plan.capturesIteration)
    setFigure(plan, "routing_host_share", 0, overrides);
  request.target.overrides = std::move(overrides);
  request.plan.dispatchByNode = plan.sendsOnce;
  request.workload.phase = Phase::train;
  request.workload.batch =
      plan.dp * plan.microbatchSequences * plan.microbatches;
  request.workload.prompt = plan.sequenceTokens;
  if (std::optional<Runtime> trainer =
          findTrainer(*request.target.runtime, request.target.overrides)) {
    takeLoss(*trainer, request.plan.training);
    keepWholeInStages(*trainer, request.plan);
  }
  return request;
}

/// Estimates `module` after `passes`; the module keeps the result of the
/// passes.
Result<Report> TrainingPredictor::State::estimate(ModuleOp module,
                                                  PassManager &passes) {
  if (failed(passes.run(module)))
    return diagnostics.takeError();
  ReportDetail detail;
  detail.boundsStages = false;
  FailureOr<Report> report = estimateModule(module, CostProgramAnalysis(module),
                                            TargetAnalysis(module), detail);
  if (failed(report))
    return diagnostics.takeError();
  return std::move(*report);
}

Result<TrainingPrediction>
TrainingPredictor::State::predict(ModuleOp module, const TrainedRun &run) {
  Result<std::vector<Override>> own = overridesOf(run);
  if (!own)
    return own.error();
  Result<PlanRequest> request = requestOf(run, std::move(*own));
  if (!request)
    return request.error();
  PassManager passes(&context);
  addPlanPasses(passes, *request);
  std::string key;
  llvm::raw_string_ostream os(key);
  passes.printAsTextualPipeline(os);
  module.print(os);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  Result<Report> report = estimate(module, passes);
  if (!report)
    return report.error();
  constexpr double gib = 1 << 30;
  TrainingPrediction prediction = {
      report->latency.stepTimeUs / 1e6,
      static_cast<double>(report->memory.perDevice.totalBytes) / gib};
  known.emplace(std::move(key), prediction);
  return prediction;
}

Result<TrainingPrediction> TrainingPredictor::predict(TrainedRun &run) {
  Result<OwningOpRef<ModuleOp>> module = buildModel(&state->context, run.model);
  if (!module)
    return state->diagnostics.orElse(module.error());
  return state->predict(**module, run);
}
