//===- Estimator.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Estimator.h"

#include "../Bind/CacheFormat.h"
#include "AdviceRemarks.h"
#include "StatedPlan.h"

#include "autopar/Analysis/StageBorders.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Program/Stages.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::parallel;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace mlir;

/// Whether the user chose a step, by its batch or its context.
static bool isStepChosen(ModuleOp module) {
  for (auto step : module.getOps<transformer::WorkloadOp>()) {
    auto assumed = step.getAssumed().getAsValueRange<StringAttr>();
    return !llvm::is_contained(assumed, "batch") ||
           !llvm::is_contained(assumed, "context");
  }
  return false;
}

/// Returns the question to estimate: a service if the module states requests,
/// else its step or iteration.
static Question questionOf(ModuleOp module, const Workload &step) {
  for (auto requests : module.getOps<transformer::RequestsOp>())
    return Service{requests.getRequests(), step, isStepChosen(module)};
  return program::questionOf(step);
}

FailureOr<EstimateInputs>
autopar::transforms::inputsOf(ModuleOp module, const TargetAnalysis &target) {
  if (!target.isValid())
    return failure();
  SymbolBindingOpInterface workload = findWorkload(module);
  if (!workload)
    return module.emitError("the module has no workload: give --phase, "
                            "--batch, --prompt or --context");
  FailureOr<Machine> machine = target.readMachine();
  if (failed(machine))
    return failure();
  Result<Plan> plan = planOf(module);
  if (!plan)
    return emitError(module, plan.error());
  Runtime adapted = target.getRuntime();
  const Target &given = target.getTarget();
  adapted.adaptTo(machine->pools.front(), given.modelType, given.launch);
  return EstimateInputs{std::move(*plan), std::move(*machine),
                        std::move(adapted),
                        questionOf(module, workload.getWorkload())};
}

//===----------------------------------------------------------------------===//
// Assumptions about defaults, and the estimate
//===----------------------------------------------------------------------===//

namespace {

/// Collects the assumptions of a report that follow from the module.
class Assumed {
public:
  std::vector<Assumption> of(ModuleOp module, const Target &target,
                             const PipelinePlan &pipeline) {
    addTarget(target);
    for (auto workload : module.getOps<transformer::WorkloadOp>())
      addWorkload(workload);
    for (auto op : module.getOps<MicrobatchesOpInterface>())
      addPipeline(op.getAssumed(), pipeline);
    if (auto defaults = module->getAttrOfType<ArrayAttr>(
            transformer::DefaultAttr::moduleAttribute))
      for (auto one : defaults.getAsRange<transformer::DefaultAttr>())
        if (!isCacheFormat(one.getName()))
          add("model." + one.getName().str(), textOf(one.getValue()),
              textOf(one.getSource()));
    return std::move(all);
  }

private:
  void add(std::string name, std::string value, std::string source) {
    all.push_back({std::move(name), std::move(value), std::move(source)});
  }
  static std::string textOf(StringAttr text) {
    return text ? text.str() : std::string();
  }

  void addTarget(const Target &target) {
    if (!target.hardware)
      add("hardware", target.hardwareName(), "default; set with --hardware");
    if (!target.nodes)
      add("nodes", "1", "default; set with --nodes");
    if (!target.runtime)
      add("runtime", target.runtimeName(), "default; set with --runtime");
  }

  void addWorkload(transformer::WorkloadOp op) {
    Workload workload = op.getWorkload();
    std::pair<StringRef, std::string> values[] = {
        {"phase", std::string(nameOf(workload.phase))},
        {"batch", std::to_string(workload.batch)},
        {"query", std::to_string(workload.query)},
        {"context", std::to_string(workload.context)}};
    auto assumed = op.getAssumed().getAsValueRange<StringAttr>();
    for (auto &[name, value] : values)
      if (llvm::is_contained(assumed, name))
        add("workload." + name.str(), value, "the module's own workload");
  }

  void addPipeline(ArrayAttr assumed, const PipelinePlan &pipeline) {
    for (StringRef name : assumed.getAsValueRange<StringAttr>())
      if (name == "stages")
        addCut(rangesText(pipeline.stages));
      else
        add("pipeline." + name.str(),
            name == "schedule" ? std::string(nameOf(*pipeline.schedule))
                               : std::to_string(*pipeline.microbatches),
            "the module's own; set with --" + name.str());
  }

  /// Adds the note that the layers were divided into stages anew for this
  /// recomputation, which hides a part of the recomputation's cost.
  void addCut(const std::string &ranges) {
    add("pipeline.stages", ranges,
        "cut for the times of this --recompute; to compare with another one at "
        "equal stages, give both --stages=" +
            ranges);
  }

  std::vector<Assumption> all;
};

} // namespace

/// Adds to the report, and as a warning, which machine a name was understood to
/// mean.
static void addTaken(ModuleOp module, const TakenName &taken, Report &report) {
  std::string text = taken.str();
  report.assumptions.insert(report.assumptions.begin(),
                            {"hardware", taken.system, text});
  if (!taken.others.empty())
    module.emitWarning() << "using " << taken.system << " " << text;
}

/// Adds the KV-cache format and its source to the assumptions, and to the
/// derivation of the bytes per token.
static void addCacheFormat(ModuleOp module, const Runtime &runtime,
                           Report &report) {
  std::optional<Assumption> format = findCacheFormat(module, runtime);
  if (!format)
    return;
  for (auto &[path, derivation] : report.derivations)
    if (path.rfind("memory.kv_bytes_per_", 0) == 0)
      derivation.note += "; in " + format->value + ": " + format->source;
  report.assumptions.insert(report.assumptions.begin(), std::move(*format));
}

static void addOverride(const Override &one, Report &report) {
  for (const Assumption &assumption : report.assumptions)
    if (assumption.name == one.path)
      return;
  report.assumptions.push_back(
      {one.path, formatNumber(one.value), "user: --set"});
}

LogicalResult autopar::transforms::emitNoRequests(ModuleOp module) {
  return emitError(module,
                   {"", "the module has no requests to simulate",
                    "as in --rate=20 --prompt=2000 --output-tokens=300"});
}

FailureOr<ModuleEstimate> autopar::transforms::priceModule(
    ModuleOp module, const CostProgramAnalysis &analysis,
    const TargetAnalysis &target, const ReportDetail &detail) {
  if (!analysis.isValid())
    return failure();
  const CostProgram &program = analysis.getProgram();
  for (StagesOp stages : module.getOps<StagesOp>())
    if (failed(verifyCoverage(stages.getRanges(), program,
                              [&] { return stages.emitOpError(); })))
      return failure();
  FailureOr<EstimateInputs> inputs = inputsOf(module, target);
  if (failed(inputs))
    return failure();
  PipelinePlan &pipeline = inputs->plan.pipeline;
  if (auto layers = layersInOrder(program);
      layers && pipeline.microbatches && pipeline.stages.empty())
    pipeline.stages = equalRanges(static_cast<int64_t>(layers->size()), 1);
  if (detail.simulation && !std::holds_alternative<Service>(inputs->question))
    return emitNoRequests(module);
  Result<Estimate> made = estimate(program, inputs->plan, inputs->machine,
                                   inputs->runtime, inputs->question, detail);
  if (!made)
    return emitError(module, made.error());
  Report &report = made->report;
  emitAdvice(module, analysis.getOps(), report.warnings);
  for (const Override &one : target.getTarget().overrides)
    addOverride(one, report);
  std::vector<Assumption> open =
      Assumed().of(module, target.getTarget(), pipeline);
  report.assumptions.insert(report.assumptions.begin(), open.begin(),
                            open.end());
  addCacheFormat(module, inputs->runtime, report);
  if (inputs->machine.taken)
    addTaken(module, *inputs->machine.taken, report);
  return ModuleEstimate{std::move(*inputs), std::move(*made)};
}

LogicalResult autopar::transforms::emitError(ModuleOp module,
                                             const Error &error) {
  InFlightDiagnostic diag = module.emitError();
  diag << (error.where.empty() ? error.message
                               : error.where + ": " + error.message);
  if (!error.note.empty())
    diag.attachNote() << error.note;
  return failure();
}

FailureOr<Report> autopar::transforms::estimateModule(
    ModuleOp module, const CostProgramAnalysis &analysis,
    const TargetAnalysis &target, const ReportDetail &detail) {
  FailureOr<ModuleEstimate> estimate =
      priceModule(module, analysis, target, detail);
  if (failed(estimate) || failed(target.verifyOverrides()))
    return failure();
  return std::move(estimate->report);
}
