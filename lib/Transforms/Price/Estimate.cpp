//===- Estimate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Price/Estimate.h"

#include "OtherPhase.h"
#include "Workbook.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Program/RequestTrace.h"
#include "autopar/Transforms/ModulePass.h"
#include "autopar/Transforms/Passes.h"
#include "autopar/Write/Json.h"
#include "autopar/Write/Page.h"
#include "autopar/Write/Text.h"

#include "autopar/Support/Limits.h"

#include "llvm/Support/raw_ostream.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_ESTIMATEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::parallel;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::serving;
using namespace autopar::transforms;
using namespace autopar::writing;
using namespace mlir;

namespace {

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
      // An HTML page shows derivations and impacts.
      detail.explain = detail.impact = true;
    }
    FailureOr<AnyReport> report =
        estimate(module, getAnalysisManager(), detail);
    if (failed(report) ||
        failed(
            std::visit([&](const auto &one) { return finish(one); }, *report)))
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

  /// Emits an error if a simulation was asked for that cannot be made.
  LogicalResult checkSimulated() {
    if (simulate == 0 && requests.empty())
      return success();
    return getOperation().emitError(
        "nothing is simulated: the KV cache of a replica does not hold a "
        "request of mean length");
  }

  /// Writes the simulated requests to the files that the options name.
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

  /// Writes the timeline of the pipeline, or of the simulated requests, if a
  /// file is given for it.
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

  template <typename OneReport>
  LogicalResult finish(const OneReport &report) {
    if (failed(writeTimeline(report)))
      return failure();
    if (format == "html")
      return writeHtml(report);
    TextStyle style = styleOf(output);
    style.verbose = verbose;
    style.brief = brief;
    return write(output, format == "json" ? writeJson(report)
                                          : writeText(report, style));
  }

  template <typename OneReport>
  LogicalResult writeHtml(const OneReport &report) {
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
