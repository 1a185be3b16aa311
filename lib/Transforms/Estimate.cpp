//===- Estimate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Estimate.h"

#include "AdviceRemarks.h"
#include "ErrorsNameModule.h"
#include "ModulePlan.h"
#include "autopar/Transforms/Passes.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Cost/Evaluate.h"
#include "autopar/Cost/Link.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include "llvm/Support/raw_ostream.h"

namespace autopar {
#define GEN_PASS_DEF_ESTIMATEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

static constexpr llvm::StringLiteral defaultHardware = "h100-sxm-8";
static constexpr llvm::StringLiteral defaultRuntime = "vllm";

static MachineAttr machineOf(ModuleOp module) {
  return module->getAttrOfType<MachineAttr>(MachineAttr::moduleAttribute);
}

namespace {

/// A module, priced.
struct ModuleEstimate {
  Plan plan;
  Machine machine;
  Workload workload;
  Report report;
  /// Whether the module names its machine.
  bool ownMachine = false;
};

/// Evaluates modules; emits errors where it cannot.
class Estimator : EstimateSettings {
public:
  /// Errors that are about no module inside are emitted on `module`.
  Estimator(ModuleOp module, const EstimateSettings &settings)
      : EstimateSettings(settings), module(module) {}

  /// Reads what all modules share.
  LogicalResult prepare() {
    if (failed(verifySettings()))
      return failure();
    for (const std::string &text : overrides) {
      Result<Override> one = parseOverride(text);
      if (!one)
        return emitError(module, one.error());
      parsed.push_back(*one);
    }
    library = HardwareLibrary(parsed);
    usedByRuntime.resize(parsed.size());
    Result<Runtime> read =
        readRuntime(runtime.empty() ? defaultRuntime.str() : runtime, parsed,
                    usedByRuntime);
    if (!read)
      return emitError(module, read.error());
    software = std::move(*read);
    return success();
  }

  FailureOr<ModuleEstimate> run(ModuleOp module,
                                const CostProgramAnalysis &analysis) {
    SymbolBindingOpInterface workload = findWorkload(module);
    if (!workload)
      return module.emitError("the module has no workload: give --phase, "
                              "--batch, --prompt or --context");
    FailureOr<Machine> machine = readMachine(module, /*spareNodes=*/0);
    if (!analysis.isValid() || failed(machine))
      return failure();
    ModuleEstimate estimate;
    estimate.machine = std::move(*machine);
    estimate.ownMachine = bool(machineOf(module));
    estimate.workload = workload.getWorkload();
    Result<Plan> plan = planOf(module, analysis.getProgram());
    if (!plan)
      return emitError(module, plan.error());
    estimate.plan = std::move(*plan);
    if (memoryUtilization != 0)
      estimate.plan.memoryUtilization = memoryUtilization;
    Result<Report> report =
        evaluate(analysis.getProgram(), estimate.plan, estimate.machine,
                 software, estimate.workload, explain);
    if (!report)
      return emitError(module, report.error());
    estimate.report = std::move(*report);
    emitAdvice(module, analysis.getOps(), estimate.report.warnings);
    addAssumptions(module, estimate.workload, estimate.report);
    return estimate;
  }

  /// Prices a link; `estimates` are those of its sides.
  FailureOr<LinkReport> run(LinkOp link, LinkSide from, LinkSide to) {
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

  /// Refuses overrides that nothing has used.
  LogicalResult verifyOverrides() {
    if (std::optional<Error> unused = library.unusedOverride())
      return emitError(module, *unused);
    if (std::optional<Error> unused =
            unusedRuntimeOverride(parsed, usedByRuntime))
      return emitError(module, *unused);
    return success();
  }

private:
  LogicalResult verifySettings() {
    if (!(memoryUtilization >= 0 && memoryUtilization <= 1))
      return module.emitError()
             << "memory-utilization = " << formatNumber(memoryUtilization)
             << ", expected a share above 0 and up to 1";
    if (nodes < 0 || nodes > limits::maxDevices)
      return module.emitError()
             << "nodes = " << nodes << ", expected 1 to " << limits::maxDevices;
    return success();
  }

  /// The machine of `module`, its own or that of the settings, with so many
  /// nodes more.
  FailureOr<Machine> readMachine(ModuleOp module, int64_t spareNodes) {
    MachineAttr own = machineOf(module);
    int64_t count = own ? own.getNodes() : std::max<int64_t>(1, nodes);
    Result<Machine> machine =
        library.machine(machineNameOf(module, hardware), count + spareNodes);
    if (!machine)
      return emitError(module, machine.error());
    return std::move(*machine);
  }

  /// What the user left open.
  void addAssumptions(ModuleOp module, const Workload &workload,
                      Report &report) {
    std::vector<Assumption> open;
    bool named = bool(machineOf(module));
    if (hardware.empty() && !named)
      open.push_back(
          {"hardware", defaultHardware.str(), "default; set with --hardware"});
    if (!nodes && !named)
      open.push_back({"nodes", "1", "default; set with --nodes"});
    if (runtime.empty())
      open.push_back(
          {"runtime", defaultRuntime.str(), "default; set with --runtime"});
    addOpenWorkload(workload, open);
    if (auto defaults =
            module->getAttrOfType<ArrayAttr>("transformer.defaults"))
      for (Attribute attr : defaults)
        if (auto text = dyn_cast<StringAttr>(attr)) {
          auto [name, rest] = text.getValue().split(" = ");
          auto [value, source] = rest.split(" (");
          source.consume_back(")");
          open.push_back({"model." + name.str(), value.str(), source.str()});
        }
    for (const std::string &text : overrides)
      addOverride(text, report);
    report.assumptions.insert(report.assumptions.begin(), open.begin(),
                              open.end());
  }

  /// Parts of the workload that the user did not choose. An encoder that has no
  /// work is an assumption of the evaluator.
  void addOpenWorkload(const Workload &workload,
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

  /// Lists a replaced value that the evaluator has not listed itself.
  static void addOverride(const std::string &text, Report &report) {
    auto [path, value] = StringRef(text).split('=');
    for (const Assumption &assumption : report.assumptions)
      if (assumption.name == path)
        return;
    report.assumptions.push_back({path.str(), value.str(), "user: --set"});
  }

  ModuleOp module;
  std::vector<Override> parsed;
  std::vector<bool> usedByRuntime;
  HardwareLibrary library;
  Runtime software;
};

/// The modules of a deployment, and what its links move.
class DeploymentEstimator {
public:
  DeploymentEstimator(ModuleOp module, const EstimateSettings &settings)
      : module(module), estimator(module, settings) {}

  FailureOr<DeploymentReport> run() {
    if (failed(estimator.prepare()))
      return failure();
    for (ModuleOp inside : findDeployed(module))
      if (failed(price(inside)))
        return failure();
    for (LinkOp link : module.getOps<LinkOp>()) {
      FailureOr<LinkReport> priced =
          estimator.run(link, side(link.getFrom()), side(link.getTo()));
      if (failed(priced))
        return failure();
      report.links.push_back(std::move(*priced));
    }
    if (failed(estimator.verifyOverrides()))
      return failure();
    report.model = report.modules.front().second.model.name;
    return std::move(report);
  }

private:
  LogicalResult price(ModuleOp inside) {
    ErrorsNameModule handler(inside);
    std::string name = inside.getName().value_or("").str();
    analyses.push_back(std::make_unique<CostProgramAnalysis>(inside));
    FailureOr<ModuleEstimate> priced = estimator.run(inside, *analyses.back());
    if (failed(priced))
      return failure();
    report.modules.emplace_back(name, priced->report);
    estimates.push_back(std::move(*priced));
    return success();
  }

  LinkSide side(StringRef name) {
    auto it = llvm::find_if(report.modules, [&](const auto &module) {
      return module.first == name;
    });
    size_t index = it - report.modules.begin();
    const ModuleEstimate &one = estimates[index];
    return {name.str(),   analyses[index]->getProgram(),
            one.plan,     one.machine,
            one.workload, one.ownMachine};
  }

  ModuleOp module;
  Estimator estimator;
  DeploymentReport report;
  std::vector<std::unique_ptr<CostProgramAnalysis>> analyses;
  std::vector<ModuleEstimate> estimates;
};

struct EstimatePass : autopar::impl::EstimatePassBase<EstimatePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (failed(verifyReportFormat(module, format)))
      return signalPassFailure();
    EstimateSettings settings{hardware,
                              runtime,
                              nodes,
                              memoryUtilization,
                              {overrides.begin(), overrides.end()},
                              {given.begin(), given.end()},
                              explain};
    LogicalResult done =
        findDeployed(module).empty()
            ? write(estimateModule(module, getAnalysis<CostProgramAnalysis>(),
                                   settings))
            : write(DeploymentEstimator(module, settings).run());
    if (failed(done))
      signalPassFailure();
  }

  template <typename AnyReport>
  LogicalResult write(FailureOr<AnyReport> report) {
    if (failed(report))
      return failure();
    return writeReport(getOperation(), output,
                       format == "json" ? writeJson(*report)
                                        : writeText(*report));
  }
};

} // namespace

std::string autopar::machineNameOf(ModuleOp module, StringRef given) {
  if (MachineAttr own = machineOf(module))
    return own.getHardware().str();
  return given.empty() ? defaultHardware.str() : given.str();
}

LogicalResult autopar::emitError(ModuleOp module, const Error &error) {
  InFlightDiagnostic diag = module.emitError();
  diag << (error.where.empty() ? error.message
                               : error.where + ": " + error.message);
  if (!error.note.empty())
    diag.attachNote() << error.note;
  return failure();
}

LogicalResult autopar::verifyReportFormat(ModuleOp module, StringRef format) {
  if (format == "text" || format == "json")
    return success();
  return module.emitError()
         << "unknown report format '" << format << "', expected text or json";
}

LogicalResult autopar::writeReport(ModuleOp module, const std::string &path,
                                   const std::string &text) {
  Result<bool> written = writeOutput(path, text);
  return written ? success() : emitError(module, written.error());
}

FailureOr<Report> autopar::estimateModule(ModuleOp module,
                                          const CostProgramAnalysis &analysis,
                                          const EstimateSettings &settings) {
  Estimator estimator(module, settings);
  if (failed(estimator.prepare()))
    return failure();
  FailureOr<ModuleEstimate> estimate = estimator.run(module, analysis);
  if (failed(estimate) || failed(estimator.verifyOverrides()))
    return failure();
  return std::move(estimate->report);
}
