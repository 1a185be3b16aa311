//===- Estimator.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Estimator.h"

#include "AdviceRemarks.h"
#include "ModulePlan.h"

#include "autopar/Analysis/StageBorders.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

static constexpr llvm::StringLiteral defaultHardware = "h100-sxm-8";
static constexpr llvm::StringLiteral defaultRuntime = "vllm";

LogicalResult Estimator::verifySettings() {
  if (!(memoryUtilization >= 0 && memoryUtilization <= 1))
    return module.emitError()
           << "memory-utilization = " << formatNumber(memoryUtilization)
           << ", expected a share above 0 and up to 1";
  if (nodes < 0 || nodes > limits::maxDevices)
    return module.emitError()
           << "nodes = " << nodes << ", expected 1 to " << limits::maxDevices;
  return success();
}

LogicalResult Estimator::prepare() {
  if (failed(verifySettings()))
    return failure();
  Result<std::vector<Override>> given = parseOverrides(overrides);
  if (!given)
    return emitError(module, given.error());
  parsed = std::move(*given);
  library = HardwareLibrary(parsed);
  if (applied) {
    software = applied->runtime;
    usedByRuntime = applied->usedOverrides;
    return success();
  }
  usedByRuntime.resize(parsed.size());
  Result<Runtime> read = readRuntime(
      runtime.empty() ? defaultRuntime.str() : runtime, parsed, usedByRuntime);
  if (!read)
    return emitError(module, read.error());
  software = std::move(*read);
  return success();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static MachineAttr machineOf(ModuleOp module) {
  return module->getAttrOfType<MachineAttr>(MachineAttr::moduleAttribute);
}

std::string autopar::machineNameOf(ModuleOp module, StringRef given) {
  if (MachineAttr own = machineOf(module))
    return own.getHardware().str();
  return given.empty() ? defaultHardware.str() : given.str();
}

/// The machine of `module`, its own or that of the settings, with so many nodes
/// more.
FailureOr<Machine> Estimator::readMachine(ModuleOp module, int64_t spareNodes) {
  MachineAttr own = machineOf(module);
  int64_t count = own ? own.getNodes() : std::max<int64_t>(1, nodes);
  Result<Machine> machine =
      library.machine(machineNameOf(module, hardware), count + spareNodes);
  if (!machine)
    return emitError(module, machine.error());
  machine->useImplementations(software.name, software.collectives);
  return std::move(*machine);
}

FailureOr<EstimateInputs> Estimator::inputsOf(ModuleOp module,
                                              const CostProgram &program) {
  SymbolBindingOpInterface workload = findWorkload(module);
  if (!workload)
    return module.emitError("the module has no workload: give --phase, "
                            "--batch, --prompt or --context");
  FailureOr<Machine> machine = readMachine(module, /*spareNodes=*/0);
  if (failed(machine))
    return failure();
  Result<Plan> plan = planOf(module, program);
  if (!plan)
    return emitError(module, plan.error());
  if (memoryUtilization != 0)
    plan->memoryUtilization = memoryUtilization;
  Runtime adapted = software;
  adapted.adaptTo(machine->pools.front().chip);
  return EstimateInputs{std::move(*plan), std::move(*machine),
                        std::move(adapted), workload.getWorkload(),
                        bool(machineOf(module))};
}

FailureOr<ModuleEstimate> Estimator::run(ModuleOp module,
                                         const CostProgramAnalysis &analysis) {
  if (!analysis.isValid())
    return failure();
  for (StagesOp stages : module.getOps<StagesOp>())
    if (failed(verifyCoverage(stages.getRanges(), analysis.getProgram(),
                              [&] { return stages.emitOpError(); })))
      return failure();
  FailureOr<EstimateInputs> inputs = inputsOf(module, analysis.getProgram());
  if (failed(inputs))
    return failure();
  Result<Report> report =
      evaluate(analysis.getProgram(), inputs->plan, inputs->machine,
               inputs->runtime, inputs->workload, detail);
  if (!report)
    return emitError(module, report.error());
  emitAdvice(module, analysis.getOps(), report->warnings);
  ModuleEstimate estimate{std::move(*inputs), std::move(*report)};
  addAssumptions(module, estimate);
  return estimate;
}

FailureOr<LinkReport> Estimator::run(LinkOp link, LinkSide from, LinkSide to) {
  // Pools of their own meet over what joins nodes.
  for (StringRef name : {link.getFrom(), link.getTo()})
    if ((from.ownMachine || to.ownMachine) &&
        failed(readMachine(SymbolTable(module).lookup<ModuleOp>(name),
                           /*spareNodes=*/1)))
      return failure();
  Result<LinkReport> report = evaluateLink(from, to, software.ideal);
  if (report)
    return std::move(*report);
  InFlightDiagnostic diag = link.emitOpError() << report.error().message;
  diag.attachNote() << report.error().note;
  return diag;
}

LogicalResult Estimator::verifyOverrides() {
  if (std::optional<Error> unused = library.unusedOverride())
    return emitError(module, *unused);
  if (std::optional<Error> unused =
          unusedRuntimeOverride(parsed, usedByRuntime))
    return emitError(module, *unused);
  return success();
}

//===----------------------------------------------------------------------===//
// What the user left open
//===----------------------------------------------------------------------===//

/// Parts of the workload that the user did not choose. An encoder that has no
/// work is an assumption of the evaluator.
void Estimator::addOpenWorkload(const Workload &workload,
                                std::vector<Assumption> &open) {
  SmallVector<std::pair<StringRef, std::string>> parts = {
      {"phase", std::string(nameOf(workload.phase))},
      {"batch", std::to_string(workload.batch)},
      {"query", std::to_string(workload.query)},
      {"context", std::to_string(workload.context)}};
  if (workload.source)
    parts.emplace_back("source", std::to_string(workload.source));
  if (workload.memory)
    parts.emplace_back("memory", std::to_string(workload.memory));
  for (const auto &[name, value] : parts)
    if (!llvm::is_contained(given, name))
      open.push_back(
          {"workload." + name.str(), value, "the module's own workload"});
}

void Estimator::addOpenPipeline(const PipelinePlan &pipeline,
                                std::vector<Assumption> &open) {
  if (pipeline.stages.empty())
    return;
  auto add = [&](StringRef name, std::string value) {
    if (!llvm::is_contained(given, name))
      open.push_back({"pipeline." + name.str(), std::move(value),
                      "the module's own; set with --" + name.str()});
  };
  add("microbatches", std::to_string(*pipeline.microbatches));
  add("schedule", std::string(nameOf(*pipeline.schedule)));
}

/// Lists a replaced value that the evaluator has not listed itself.
static void addOverride(const std::string &text, Report &report) {
  auto [path, value] = StringRef(text).split('=');
  for (const Assumption &assumption : report.assumptions)
    if (assumption.name == path)
      return;
  report.assumptions.push_back({path.str(), value.str(), "user: --set"});
}

void Estimator::addAssumptions(ModuleOp module, ModuleEstimate &estimate) {
  std::vector<Assumption> open;
  bool named = estimate.ownMachine;
  if (hardware.empty() && !named)
    open.push_back(
        {"hardware", defaultHardware.str(), "default; set with --hardware"});
  if (!nodes && !named)
    open.push_back({"nodes", "1", "default; set with --nodes"});
  if (runtime.empty())
    open.push_back(
        {"runtime", defaultRuntime.str(), "default; set with --runtime"});
  addOpenWorkload(estimate.workload, open);
  addOpenPipeline(estimate.plan.pipeline, open);
  if (auto defaults = module->getAttrOfType<ArrayAttr>("transformer.defaults"))
    for (Attribute attr : defaults)
      if (auto text = dyn_cast<StringAttr>(attr)) {
        auto [name, rest] = text.getValue().split(" = ");
        auto [value, source] = rest.split(" (");
        source.consume_back(")");
        open.push_back({"model." + name.str(), value.str(), source.str()});
      }
  for (const std::string &text : overrides)
    addOverride(text, estimate.report);
  auto &all = estimate.report.assumptions;
  all.insert(all.begin(), open.begin(), open.end());
}
