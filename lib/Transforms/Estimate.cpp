//===- Estimate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "MeshReader.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Cost/Evaluate.h"
#include "autopar/Plan/Degrees.h"
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

/// The part of a plan that the IR holds.
static Plan planOf(ModuleOp module, const CostProgram &program) {
  Plan plan;
  for (MeshOp mesh : module.getOps<MeshOp>())
    plan = readMesh(mesh);
  for (const Kernel &kernel : program.kernels)
    if (kernel.flopFactor && kernel.kind != KernelKind::scan) {
      plan.dtype = kernel.compute;
      break;
    }
  for (const Resident &resident : program.residents)
    if (resident.kind == Resident::Kind::kv_cache) {
      plan.kvDtype = resident.type;
      break;
    }
  return plan;
}

namespace {

/// What an estimate is made of besides the program.
struct Setting {
  Machine machine;
  Runtime runtime;
};

struct EstimatePass : autopar::impl::EstimatePassBase<EstimatePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (failed(verifyOptions(module)))
      return signalPassFailure();
    SymbolBindingOpInterface workload = findWorkload(module);
    if (!workload) {
      module.emitError("the module has no workload: give --phase, --batch, "
                       "--prompt or --context");
      return signalPassFailure();
    }
    auto &analysis = getAnalysis<CostProgramAnalysis>();
    FailureOr<Setting> setting = readSetting(module);
    if (!analysis.isValid() || failed(setting))
      return signalPassFailure();
    Plan plan = planOf(module, analysis.getProgram());
    if (std::optional<Error> error = completeDegrees(plan))
      return fail(module, *error);
    if (memoryUtilization != 0)
      plan.memoryUtilization = memoryUtilization;
    Result<Report> report =
        evaluate(analysis.getProgram(), plan, setting->machine,
                 setting->runtime, workload.getWorkload(), explain);
    if (!report)
      return fail(module, report.error());
    addAssumptions(module, workload.getWorkload(), *report);
    write(module, format == "json" ? writeJson(*report) : writeText(*report));
  }

  LogicalResult verifyOptions(ModuleOp module) {
    if (format != "text" && format != "json")
      return module.emitError() << "unknown report format '" << format
                                << "', expected text or json";
    if (!(memoryUtilization >= 0 && memoryUtilization <= 1))
      return module.emitError()
             << "memory-utilization = " << formatNumber(memoryUtilization)
             << ", expected a share above 0 and up to 1";
    if (nodes < 0 || nodes > limits::maxDevices)
      return module.emitError() << "nodes = " << nodes.getValue()
                                << ", expected 1 to " << limits::maxDevices;
    return success();
  }

  /// Reports a failure of the left side, whose note keeps its own line.
  void fail(ModuleOp module, const Error &error) {
    InFlightDiagnostic diag = module.emitError();
    diag << (error.where.empty() ? error.message
                                 : error.where + ": " + error.message);
    if (!error.note.empty())
      diag.attachNote() << error.note;
    signalPassFailure();
  }

  FailureOr<Setting> readSetting(ModuleOp module) {
    auto refuse = [&](const Error &error) {
      fail(module, error);
      return failure();
    };
    std::vector<Override> parsed;
    for (const std::string &text : overrides) {
      Result<Override> one = parseOverride(text);
      if (!one)
        return refuse(one.error());
      parsed.push_back(*one);
    }
    HardwareLibrary library(parsed);
    Result<Machine> machine =
        library.machine(hardware.empty() ? defaultHardware.str() : hardware,
                        nodes == 0 ? 1 : nodes.getValue());
    if (!machine)
      return refuse(machine.error());
    std::vector<bool> used(parsed.size());
    Result<Runtime> software = readRuntime(
        runtime.empty() ? defaultRuntime.str() : runtime, parsed, used);
    if (!software)
      return refuse(software.error());
    if (std::optional<Error> unused = library.unusedOverride())
      return refuse(*unused);
    if (std::optional<Error> unused = unusedRuntimeOverride(parsed, used))
      return refuse(*unused);
    return Setting{std::move(*machine), std::move(*software)};
  }

  /// What the user left open.
  void addAssumptions(ModuleOp module, const Workload &workload,
                      Report &report) {
    std::vector<Assumption> open;
    if (hardware.empty())
      open.push_back(
          {"hardware", defaultHardware.str(), "default; set with --hardware"});
    if (!nodes)
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
      if (!llvm::is_contained(*given, name))
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

  void write(ModuleOp module, const std::string &text) {
    Result<bool> written = writeOutput(output, text);
    if (!written)
      fail(module, written.error());
  }
};

} // namespace
