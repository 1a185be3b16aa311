//===- Estimate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Estimate.h"

#include "ErrorsNameModule.h"
#include "Estimator.h"
#include "autopar/Transforms/Passes.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"

#include "llvm/Support/raw_ostream.h"

namespace autopar {
#define GEN_PASS_DEF_ESTIMATEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

namespace {

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

  std::shared_ptr<const AppliedRuntime> applied;

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
                              {explain, impact},
                              applied};
    LogicalResult done =
        findDeployed(module).empty()
            ? write(estimateModule(module, getAnalysis<CostProgramAnalysis>(),
                                   settings))
            : write(DeploymentEstimator(module, settings).run());
    if (failed(done))
      signalPassFailure();
  }

  /// The timeline of the report's pipeline, where a file is asked for.
  LogicalResult writeTimeline(const Report &report) {
    if (trace.empty())
      return success();
    if (!report.pipeline)
      return getOperation().emitError(
          "there is no timeline to trace: the module has no pipeline stages");
    size_t tasks = report.pipeline->timeline.tasks.size();
    if (tasks > limits::maxTracedTasks)
      return getOperation().emitError()
             << "a timeline of " << tasks << " tasks is too long to write: at "
             << "most " << limits::maxTracedTasks
             << "; take fewer microbatches, every steady one is like the one "
                "before";
    return writeReport(getOperation(), trace,
                       writeTrace(report.pipeline->timeline));
  }
  LogicalResult writeTimeline(const DeploymentReport &) {
    if (trace.empty())
      return success();
    return getOperation().emitError(
        "a timeline is one of one module, not of a deployment");
  }

  template <typename AnyReport>
  LogicalResult write(FailureOr<AnyReport> report) {
    if (failed(report))
      return failure();
    if (failed(writeTimeline(*report)))
      return failure();
    return writeReport(getOperation(), output,
                       format == "json" ? writeJson(*report)
                                        : writeText(*report));
  }
};

} // namespace

std::unique_ptr<Pass>
autopar::createEstimatePass(EstimatePassOptions options,
                            std::shared_ptr<const AppliedRuntime> applied) {
  auto pass = std::make_unique<EstimatePass>(std::move(options));
  pass->applied = std::move(applied);
  return pass;
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
