//===- SearchPass.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/SearchPass.h"

#include "SessionState.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Hub/Hub.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Support/Text.h"
#include "autopar/Transforms/ModulePass.h"
#include "autopar/Transforms/Price/Estimate.h"

#include "mlir/IR/Remarks.h"

namespace autopar::session {
#define GEN_PASS_DEF_SEARCHPASS
#include "autopar/Session/Passes.h.inc"
} // namespace autopar::session

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::hub;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct SearchPass : autopar::session::impl::SearchPassBase<SearchPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<SearchRequest> request = readRequest();
    if (failed(request))
      return signalPassFailure();
    FailureOr<SearchOutcome> found = search(*request);
    if (failed(found) ||
        failed(makeBest(request->variants.front().base, *found)))
      signalPassFailure();
  }

private:
  FailureOr<transformer::WorkloadOp> findWorkload();
  FailureOr<SearchRequest> readRequest();
  FailureOr<SearchOutcome> search(const SearchRequest &request);
  PlanRequest requestOf(const PlanRequest &base, const SearchTarget &target,
                        const Plan &plan);
  LogicalResult makeBest(const PlanRequest &base, const SearchOutcome &found);
  LogicalResult refuse(const PlanRequest &base, const SearchOutcome &found);
  FailureOr<Report> estimate(PlanRequest request);
};

} // namespace

/// Finds the workload of a model that is not split yet.
FailureOr<transformer::WorkloadOp> SearchPass::findWorkload() {
  ModuleOp module = getOperation();
  if (!findDeployed(module).empty())
    return module.emitError("holds several modules: autopar-run-on-module "
                            "searches for one of them");
  for (Operation &op : *module.getBody())
    if (isa<parallel::MeshOp, MicrobatchesOpInterface,
            parallel::ExpertPlacementOp>(op))
      return op.emitOpError(
          "is split already: a search needs the model before any split");
  for (auto op : module.getOps<transformer::WorkloadOp>())
    return op;
  InFlightDiagnostic diag = module.emitError("has no workload to search for");
  diag.attachNote() << "give --phase, --batch and --context";
  return diag;
}

FailureOr<SearchRequest> SearchPass::readRequest() {
  ModuleOp module = getOperation();
  FailureOr<transformer::WorkloadOp> workload = findWorkload();
  if (failed(workload))
    return failure();
  SearchRequest request;
  SearchVariant &variant = request.variants.emplace_back();
  variant.base.target = targetOf(module);
  variant.base.target.own = false;
  if (variant.base.target.prefillChunk == 0)
    return emitError(module,
                     {"", "a search needs a number of tokens in a chunk",
                      "give one that holds the prompts, as "
                      "--prefill-chunk=1M"});
  Result<SearchSpace> limits = parseSearchSpace(space);
  if (!limits)
    return emitError(module, limits.error());
  request.space = std::move(*limits);
  std::optional<Goal> wanted = parseGoal(goal);
  if (!wanted)
    return module.emitError()
           << "--goal=" << shorten(goal)
           << ": expected throughput, throughput-per-device, latency, cost or "
              "devices";
  request.goal = *wanted;
  Workload step = workload->getWorkload();
  variant.base.workload.phase = step.phase;
  Result<ServiceLimits> service = parseServiceLimits(sla, step.phase);
  if (!service)
    return emitError(module, service.error().behind("--sla="));
  request.limits = *service;
  request.batches = {step.batch};
  if (devices != 0)
    request.devices = {devices};
  request.cacheDirectory = cacheDirectory() + "/strategies";
  return request;
}

FailureOr<SearchOutcome> SearchPass::search(const SearchRequest &request) {
  ModuleOp module = getOperation();
  std::vector<std::string> warnings;
  SearchControl control;
  control.threads = getContext().isMultithreadingEnabled() ? 0 : 1;
  std::optional<Result<SearchOutcome>> found;
  {
    Session::Warn warn = [&](const std::string &line) {
      warnings.push_back(line);
    };
    Diagnostics diagnostics(&getContext(), warn);
    found.emplace(searchModule(module, request, warn, diagnostics, control));
  }
  for (const std::string &line : warnings)
    module.emitWarning(line);
  if (!*found)
    return emitError(module, found->error());
  return std::move(**found);
}

/// Returns the request for `plan` on `target`, without what the module states
/// already.
PlanRequest SearchPass::requestOf(const PlanRequest &base,
                                  const SearchTarget &target,
                                  const Plan &plan) {
  PlanRequest one = base;
  one.plan = plan;
  int64_t nodes = target.machine.pools.front().nodes;
  if (nodes == one.target.nodes.value_or(1))
    return one;
  one.target.nodes = nodes;
  // In a deployment, the number of nodes belongs to the named hardware.
  if (getOperation()->getParentOp())
    one.target.hardware = one.target.hardwareName();
  return one;
}

/// Estimates a clone of the module. If it fails, an error has been emitted.
FailureOr<Report> SearchPass::estimate(PlanRequest request) {
  OwningOpRef<ModuleOp> copy(getOperation().clone());
  PassManager pm(&getContext());
  addPlanPasses(pm, std::move(request));
  if (failed(pm.run(*copy)))
    return failure();
  return estimateModule(*copy, CostProgramAnalysis(*copy),
                        TargetAnalysis(*copy));
}

/// Emits the error that names the limit which all plans exceed, and by how much
/// the closest plan exceeds it.
LogicalResult SearchPass::refuse(const PlanRequest &base,
                                 const SearchOutcome &found) {
  const SearchResult &result = found.result;
  ModuleOp module = getOperation();
  if (!result.frontier.empty()) {
    const SearchPoint *fastest = &result.frontier.front();
    for (const SearchPoint &point : result.frontier)
      if (point.timeUs < fastest->timeUs)
        fastest = &point;
    double limit = *found.problem.stepLimitUs();
    return emitError(
        module, {"", "no plan takes at most " + formatTime(limit) + " a step",
                 "the fastest, " + labelOf(*fastest) + ", takes " +
                     formatTime(fastest->timeUs) + ", " +
                     formatTime(fastest->timeUs - limit) + " above the limit"});
  }
  if (!result.closest)
    return emitError(module, {"", "no plan of the space is legal",
                              "relax the limits of --space"});
  const UnfitPoint &closest = *result.closest;
  const SearchTarget &target = found.problem.targets[closest.target];
  FailureOr<Report> report = estimate(requestOf(base, target, closest.plan));
  if (failed(report))
    return failure();
  SearchPoint point;
  point.plan = closest.plan;
  const auto &memory = report->memory.perDevice;
  return emitError(
      module,
      {"",
       "no plan fits " + countOf(target.devices, "device") + " of " +
           target.machine.name + ": the closest, " + labelOf(point) +
           ", needs " + formatBytes(memory.totalBytes) + " per device, " +
           formatBytes(memory.budgetBytes) + " are usable, short by " +
           formatBytes(memory.totalBytes - memory.budgetBytes),
       "more devices, a smaller --batch or --context, or --kv-format=fp8 would "
       "help"});
}

static void emitRemark(ModuleOp module, const SearchOutcome &found) {
  const SearchPoint &best = found.result.frontier[*found.result.best];
  const SearchProof &proof = found.result.proof;
  std::string text = "best in " + std::string(nameOf(found.problem.goal)) +
                     ": " + labelOf(best) + ", " + formatTime(best.timeUs) +
                     " a step";
  auto options =
      remark::RemarkOpts::name("Best").category("autopar-search").function("");
  remark::passed(module.getLoc(), options)
      << StringRef(text)
      << remark::metric("StepTimeUs", formatNumber(best.timeUs))
      << remark::metric("Space", static_cast<int64_t>(proof.space))
      << remark::metric("Priced", static_cast<int64_t>(proof.evaluated))
      << remark::metric("Excluded", static_cast<int64_t>(proof.excluded))
      << remark::metric("Unfit", static_cast<int64_t>(proof.unfit))
      << remark::metric("Illegal", static_cast<int64_t>(proof.illegal));
}

LogicalResult SearchPass::makeBest(const PlanRequest &base,
                                   const SearchOutcome &found) {
  ModuleOp module = getOperation();
  if (!found.result.best)
    return refuse(base, found);
  const SearchPoint &best = found.result.frontier[*found.result.best];
  OpPassManager passes(ModuleOp::getOperationName());
  addPlanPasses(passes,
                requestOf(base, found.problem.targets[best.target], best.plan));
  if (failed(runPipeline(passes, module)))
    return failure();
  FailureOr<Report> report = estimateModule(module, CostProgramAnalysis(module),
                                            TargetAnalysis(module));
  if (failed(report))
    return failure();
  if (report->latency.stepTimeUs != best.timeUs)
    return emitError(module,
                     {"",
                      "the search and the estimate of " + labelOf(best) +
                          " differ: " + formatNumber(best.timeUs) + " us and " +
                          formatNumber(report->latency.stepTimeUs) + " us",
                      "this is a defect of autopar"});
  emitRemark(module, found);
  return success();
}
