//===- Deployment.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Price/Estimate.h"

#include "../ErrorsNameModule.h"
#include "Estimator.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Evaluate/Links.h"
#include "autopar/Transforms/ModulePass.h"

#include <deque>

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::evaluation;
using namespace autopar::parallel;
using namespace autopar::report;
using namespace autopar::transforms;
using namespace mlir;

namespace {

/// Estimates the modules of a deployment, and the transfers over its links.
class DeploymentEstimator {
public:
  DeploymentEstimator(ModuleOp module, const TargetAnalysis &target,
                      const ReportDetail &detail)
      : module(module), target(target), detail(detail), ofModules(detail) {
    // Requests arrive at the deployment as a whole, so that its modules are not
    // simulated on their own.
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
    // Modules with machines of their own are linked by the tier between nodes.
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

  /// Estimates the service of the two modules that the link connects.
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
            one.step,
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

} // namespace

FailureOr<AnyReport> autopar::transforms::estimate(ModuleOp module,
                                                   AnalysisManager analyses,
                                                   const ReportDetail &detail) {
  const auto &target = analyses.getAnalysis<TargetAnalysis>();
  if (!findDeployed(module).empty()) {
    FailureOr<DeploymentReport> report =
        DeploymentEstimator(module, target, detail).run();
    if (failed(report))
      return failure();
    return AnyReport(std::move(*report));
  }
  FailureOr<Report> report = estimateModule(
      module, analyses.getAnalysis<CostProgramAnalysis>(), target, detail);
  if (failed(report))
    return failure();
  return AnyReport(std::move(*report));
}
