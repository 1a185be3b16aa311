//===- Estimate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Price/Estimate.h"

#include "../ErrorsNameModule.h"
#include "Estimator.h"
#include "OtherPhase.h"
#include "Workbook.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Program/RequestTrace.h"
#include "autopar/Report/DeploymentLink.h"
#include "autopar/Report/ReportPage.h"
#include "autopar/Transforms/ModulePass.h"
#include "autopar/Transforms/Passes.h"

#include "autopar/Support/Limits.h"

#include "llvm/Support/raw_ostream.h"

#include <deque>

namespace autopar::transforms {
#define GEN_PASS_DEF_ESTIMATEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::serving;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

/// The modules of a deployment, and what its links move.
class DeploymentEstimator {
public:
  DeploymentEstimator(ModuleOp module, const TargetAnalysis &target,
                      const ReportDetail &detail)
      : module(module), target(target), detail(detail), ofModules(detail) {
    // Requests come to all together.
    ofModules.simulation = nullptr;
  }

  FailureOr<DeploymentReport> run() {
    if (!target.isValid())
      return failure();
    if (detail.simulation && module.getOps<transformer::RequestsOp>().empty())
      return emitNoRequests(module);
    for (ModuleOp inside : findDeployed(module))
      if (failed(price(inside)))
        return failure();
    for (LinkOp link : module.getOps<LinkOp>()) {
      FailureOr<LinkReport> priced = price(link);
      if (failed(priced))
        return failure();
      report.links.push_back(std::move(*priced));
    }
    for (const TargetAnalysis &one : targets)
      if (failed(one.verifyOverrides()))
        return failure();
    for (auto requests : module.getOps<transformer::RequestsOp>())
      if (failed(serve(requests)))
        return failure();
    report.model = report.modules.front().second.model.name;
    return std::move(report);
  }

private:
  LogicalResult price(ModuleOp inside) {
    ErrorsNameModule handler(inside);
    std::string name = inside.getName().value_or("").str();
    analyses.push_back(std::make_unique<CostProgramAnalysis>(inside));
    targets.emplace_back(inside, target);
    FailureOr<ModuleEstimate> priced =
        priceModule(inside, *analyses.back(), targets.back(), ofModules);
    if (failed(priced))
      return failure();
    report.modules.emplace_back(name, priced->report);
    estimates.push_back(std::move(*priced));
    return success();
  }

  FailureOr<LinkReport> price(LinkOp link) {
    size_t from = indexOf(link.getFrom()), to = indexOf(link.getTo());
    // Pools of their own meet over what joins nodes.
    if (targets[from].getTarget().own || targets[to].getTarget().own)
      for (size_t side : {from, to})
        if (failed(targets[side].readMachine(/*spareNodes=*/1)))
          return failure();
    Result<LinkReport> report =
        evaluateLink(side(from), side(to), targets[from].getRuntime().ideal);
    if (report)
      return std::move(*report);
    InFlightDiagnostic diag = link.emitOpError() << report.error().message;
    diag.attachNote() << report.error().note;
    return diag;
  }

  /// What the modules of the one link do together.
  LogicalResult serve(transformer::RequestsOp requests) {
    auto links = module.getOps<LinkOp>();
    if (!llvm::hasSingleElement(links))
      return requests.emitOpError()
             << "is of a deployment with "
             << std::distance(links.begin(), links.end())
             << " links: expected one, from the module that reads prompts to "
                "the one that decodes";
    LinkOp link = *links.begin();
    size_t from = indexOf(link.getFrom()), to = indexOf(link.getTo());
    Result<PoolsReport> pools =
        evaluatePools({side(from), estimates[from].runtime},
                      {side(to), estimates[to].runtime}, link.getByLayer(),
                      requests.getRequests(), detail.simulation);
    if (!pools)
      return emitError(module, pools.error());
    report.serving = std::move(*pools);
    return success();
  }

  size_t indexOf(StringRef name) const {
    return llvm::find_if(report.modules,
                         [&](const auto &one) { return one.first == name; }) -
           report.modules.begin();
  }

  LinkSide side(size_t index) const {
    const ModuleEstimate &one = estimates[index];
    return {report.modules[index].first,
            analyses[index]->getProgram(),
            one.plan,
            one.machine,
            one.workload,
            targets[index].getTarget().own};
  }

  ModuleOp module;
  const TargetAnalysis &target;
  ReportDetail detail, ofModules;
  DeploymentReport report;
  std::deque<TargetAnalysis> targets;
  std::vector<std::unique_ptr<CostProgramAnalysis>> analyses;
  std::vector<ModuleEstimate> estimates;
};

struct EstimatePass
    : autopar::transforms::impl::EstimatePassBase<EstimatePass> {
  using Base::Base;

  StringRef destination() const override { return output.getValue(); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (failed(verifyFormat(format, {"text", "json", "html", "xlsx"})))
      return signalPassFailure();
    const auto &target = getAnalysis<TargetAnalysis>();
    if (format == "xlsx") {
      if (failed(writeWorkbook(module, target)))
        signalPassFailure();
      return;
    }
    FailureOr<std::optional<SimulationChoice>> simulation = readSimulation();
    if (failed(simulation))
      return signalPassFailure();
    ReportDetail detail{explain, impact, *simulation ? &**simulation : nullptr};
    if (format == "html") {
      // A page says of each number why, and what matters.
      detail.explain = detail.impact = true;
    }
    LogicalResult done =
        findDeployed(module).empty()
            ? finish(estimateModule(module, getAnalysis<CostProgramAnalysis>(),
                                    target, detail))
            : finish(DeploymentEstimator(module, target, detail).run());
    if (failed(done))
      signalPassFailure();
  }

  LogicalResult writeWorkbook(ModuleOp module, const TargetAnalysis &target) {
    if (output == "-")
      return module.emitError("a spreadsheet is no text: give "
                              "--report-output=<file>.xlsx");
    if (!findDeployed(module).empty())
      return module.emitError("no spreadsheet: a deployment has several steps; "
                              "take one of its modules");
    if (explain || impact || simulate != 0 || !requests.empty() ||
        !trace.empty())
      return module.emitError("--explain, --impact, --trace and simulations "
                              "have no effect on a spreadsheet");
    FailureOr<std::string> bytes =
        writeModuleWorkbook(module, getAnalysis<CostProgramAnalysis>(), target);
    return failed(bytes) ? failure() : write(output, *bytes);
  }

  FailureOr<std::optional<SimulationChoice>> readSimulation() {
    std::optional<SimulationChoice> choice;
    if (simulate == 0 && requests.empty())
      return choice;
    choice.emplace();
    if (simulate != 0)
      choice->count = simulate;
    choice->seed = seed;
    if (!requests.empty()) {
      Result<std::vector<Request>> read = readRequestTrace(requests);
      if (!read)
        return emitError(getOperation(), read.error());
      choice->trace = std::move(*read);
    }
    if (choice->count < 1 || choice->count > limits::maxSimulatedRequests)
      return getOperation().emitError() << "--simulate=" << choice->count
                                        << ": expected a number from 1 to "
                                        << limits::maxSimulatedRequests;
    return choice;
  }

  /// A simulation that was asked for is never left out without a word.
  LogicalResult checkSimulated() {
    if (simulate == 0 && requests.empty())
      return success();
    return getOperation().emitError(
        "nothing is simulated: the KV cache of a replica does not hold a "
        "request of mean length");
  }

  /// What became of simulated requests.
  LogicalResult writeRequests(const SimulationReport &simulation) {
    if (!requestsOutput.empty() &&
        failed(write(requestsOutput, writeRequestLines(*simulation.run))))
      return failure();
    if (trace.empty())
      return success();
    if (simulation.service.requests > int64_t(limits::maxTracedTasks))
      return getOperation().emitError()
             << "a timeline of " << simulation.service.requests
             << " requests is too long to write: at most "
             << limits::maxTracedTasks;
    return write(trace, writeTrace(*simulation.run));
  }

  /// The timeline of the report's pipeline or of its simulated requests, where
  /// a file is asked for.
  LogicalResult writeTimeline(const Report &report) {
    if (report.serving && report.serving->simulation)
      return writeRequests(*report.serving->simulation);
    if (failed(checkSimulated()))
      return failure();
    if (trace.empty())
      return success();
    if (!report.pipeline)
      return emitError(
          getOperation(),
          {"",
           "there is no timeline to trace: the module has no pipeline stages, "
           "and no requests were simulated",
           "give --stage-pp=N, or --simulate with --rate or --concurrency"});
    size_t tasks = report.pipeline->timeline.tasks.size();
    if (tasks > limits::maxTracedTasks)
      return getOperation().emitError()
             << "a timeline of " << tasks << " tasks is too long to write: at "
             << "most " << limits::maxTracedTasks
             << "; take fewer microbatches, every steady one is like the one "
                "before";
    return write(trace, writeTrace(report.pipeline->timeline));
  }
  LogicalResult writeTimeline(const DeploymentReport &report) {
    if (report.serving && report.serving->simulation)
      return writeRequests(*report.serving->simulation);
    if (failed(checkSimulated()))
      return failure();
    if (trace.empty())
      return success();
    return getOperation().emitError(
        "a timeline is one of one module or of simulated requests, not of a "
        "deployment");
  }

  template <typename AnyReport>
  LogicalResult finish(FailureOr<AnyReport> report) {
    if (failed(report))
      return failure();
    if (failed(writeTimeline(*report)))
      return failure();
    if (format == "html")
      return writeHtml(*report);
    TextStyle style = styleOf(output);
    style.verbose = verbose;
    style.brief = brief;
    return write(output, format == "json" ? writeJson(*report)
                                          : writeText(*report, style));
  }

  template <typename AnyReport>
  LogicalResult writeHtml(const AnyReport &report) {
    std::string text;
    llvm::raw_string_ostream(text) << getOperation() << "\n";
    Result<std::string> page = pageOf(report, text);
    return page ? write(output, *page)
                : emitError(getOperation(), page.error());
  }

  Result<std::string> pageOf(const Report &report, const std::string &text) {
    ReportDetail why;
    why.explain = true;
    std::optional<Report> other =
        estimateOtherPhase(getOperation(), getAnalysis<TargetAnalysis>(), why);
    return writePage(report, text, other ? &*other : nullptr);
  }
  static Result<std::string> pageOf(const DeploymentReport &report,
                                    const std::string &text) {
    return writePage(report, text);
  }
};

} // namespace

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
