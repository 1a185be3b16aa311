//===- SearchAnswer.cpp - The findings of a search, explained -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Session/SearchRequests.h"

#include "llvm/ADT/ScopeExit.h"

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::importer;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::transforms;

namespace {

class SearchAnswer {
public:
  SearchAnswer(Session &session, const ModelRequest &model,
               const SearchRequest &request, const std::string &why,
               const ReportDetail &detail)
      : session(session), model(model), request(request), why(why),
        detail(detail) {}

  Result<SearchReport> run(const std::string &name,
                           const SearchControl &control);

private:
  void findCloseCalls(SearchReport &report) const;
  std::optional<Error> estimateBest(SearchReport &report);
  std::optional<Error> estimateClosest(SearchReport &report);
  std::optional<Error> answerWhy(SearchReport &report);
  std::string refusalOf(const Plan &plan, size_t target);
  std::optional<std::string> refuseFirst(size_t target);
  void explainRefusal(SearchReport &report);

  Session &session;
  const ModelRequest &model;
  const SearchRequest &request;
  const std::string &why;
  const ReportDetail &detail;
  SearchOutcome found;
};

} // namespace

/// Finds close calls. Warnings about plans that the user did not ask for are
/// not shown.
void SearchAnswer::findCloseCalls(SearchReport &report) const {
  if (!report.best || report.result.rivals.empty())
    return;
  Session::Warn warn = session.exchangeWarn(nullptr);
  auto restore =
      llvm::scope_exit([&] { session.exchangeWarn(std::move(warn)); });
  auto impactsOf = [&](const SearchPoint &point) -> std::optional<Report> {
    ReportDetail detail;
    detail.impact = true;
    Result<Report> report =
        estimatePlan(session, model, request, found, point.target, point.plan,
                     point.batch, detail);
    return report ? std::optional(std::move(*report)) : std::nullopt;
  };
  std::optional<Report> best =
      impactsOf(report.result.frontier[*report.result.best]);
  std::vector<std::optional<Report>> rivals;
  if (best)
    for (const Rival &rival : report.result.rivals)
      rivals.push_back(impactsOf(rival.point));
  if (best)
    report.closeCalls =
        closeCallsOf(report.problem, report.result, *best, rivals);
}

/// Estimates the plan closest to fitting if no plan fits.
std::optional<Error> SearchAnswer::estimateClosest(SearchReport &report) {
  if (!found.result.frontier.empty() || !found.result.closest)
    return std::nullopt;
  const UnfitPoint &closest = *found.result.closest;
  Result<Report> estimated =
      estimatePlan(session, model, request, found, closest.target, closest.plan,
                   closest.batch, detail);
  if (!estimated)
    return estimated.error();
  report.closest = std::move(*estimated);
  return std::nullopt;
}

std::optional<Error> SearchAnswer::estimateBest(SearchReport &report) {
  if (request.requests)
    return std::nullopt;
  if (!found.result.best)
    return estimateClosest(report);
  Result<Report> estimated =
      estimatePoint(session, model, request, found,
                    found.result.frontier[*found.result.best], detail);
  if (!estimated)
    return estimated.error();
  report.best = std::move(*estimated);
  return std::nullopt;
}

/// Sets the loads of the experts of `plan`: the plan's own loads or, if it has
/// none, those of the search.
static std::optional<Error> setLoads(const Plan &plan, SearchRequest &one) {
  if (!plan.expertPlacement)
    return std::nullopt;
  const ExpertPlan &placed = *plan.expertPlacement;
  constexpr PlacementPolicy searched = PlacementPolicy::balanced;
  if (placed.policy.value_or(searched) != searched)
    return Error{"", "--why: searches balance experts by their loads",
                 "leave place-experts out of the plan"};
  if (!placed.sources.trace.empty() || placed.groupsInNode)
    return Error{"",
                 "--why: traces, and groups of experts in nodes, are not "
                 "searched with",
                 "leave them out of the plan"};
  for (SearchVariant &variant : one.variants) {
    std::optional<ExpertPlan> &own = variant.base.plan.expertPlacement;
    if (!placed.sources.load.empty())
      own.emplace().sources.load = placed.sources.load;
    if (!own && placed.redundant > 0)
      return Error{"", "--why: redundant-experts needs the loads of experts",
                   "add expert-load=zipf:1.0 to the plan, or --expert-load"};
  }
  return std::nullopt;
}

/// Searches the space that contains only the user's plan.
std::optional<Error> SearchAnswer::answerWhy(SearchReport &report) {
  Result<Plan> plan = loadPlan(why);
  if (!plan)
    return plan.error();
  std::optional<int64_t> devices = plan->devices();
  if (!devices)
    return Error{"", "--why: the plan has open sizes", ""};
  SearchRequest one = request;
  if (std::optional<Error> error = setLoads(*plan, one))
    return error;
  one.space = spaceOf(*plan, found.problem.trains());
  if (one.space.recompute.empty())
    return Error{"",
                 "--why: recompute=" + plan->training.recompute->str() +
                     " is not searched for",
                 "none, selective and full are"};
  one.devices = {*devices};
  Result<SearchOutcome> own = session.search(model, one);
  if (!own)
    return own.error();
  report.why = compareWith(report.result, own->result);
  report.why->plan = why;
  if (report.why->answer == SearchWhy::Answer::illegal)
    report.why->refusal = refusalOf(*plan, 0);
  return std::nullopt;
}

/// Returns the reason why `plan` is illegal on a target; "" if it is legal.
std::string SearchAnswer::refusalOf(const Plan &plan, size_t target) {
  if (std::optional<Error> error = checkChoices(plan, found.problem.trains()))
    return error->message;
  Result<Report> refused = estimatePlan(session, model, request, found, target,
                                        plan, found.problem.batches.front());
  return refused ? "" : refused.error().message;
}

/// Returns why the first plan of a target is refused; nothing if the space is
/// empty.
std::optional<std::string> SearchAnswer::refuseFirst(size_t index) {
  const SearchProblem &problem = found.problem;
  const SearchTarget &target = problem.targets[index];
  std::optional<std::string> refusal;
  forEachSizes(problem.space, target.devices, problem.hasExperts,
               [&](const PlanSizes &sizes) {
                 std::vector<PlanChoice> choices =
                     choicesOf(problem.space, sizes);
                 if (choices.empty())
                   return true;
                 Result<Plan> plan =
                     planOf(target.base, sizes, choices.front());
                 if (!plan) {
                   refusal = plan.error().message;
                   return false;
                 }
                 SearchPoint point;
                 point.plan = *plan;
                 refusal = labelOf(point) + ": " + refusalOf(*plan, index);
                 return false;
               });
  return refusal;
}

/// Explains the refusal of some plan if no plan is legal.
void SearchAnswer::explainRefusal(SearchReport &report) {
  const SearchResult &result = report.result;
  const SearchProof &proof = result.proof;
  if (!result.complete || proof.space == 0 || proof.illegal != proof.space)
    return;
  for (size_t i = 0; i < found.problem.targets.size(); ++i)
    if (std::optional<std::string> refusal = refuseFirst(i)) {
      report.refusal = *refusal;
      return;
    }
}

Result<SearchReport> SearchAnswer::run(const std::string &name,
                                       const SearchControl &control) {
  Result<SearchOutcome> outcome = session.search(model, request, control);
  if (!outcome)
    return outcome.error();
  found = std::move(*outcome);
  SearchReport report{name, found.problem, found.result};
  if (std::optional<Error> error = estimateBest(report))
    return *error;
  findCloseCalls(report);
  explainRefusal(report);
  if (!why.empty() && report.result.complete)
    if (std::optional<Error> error = answerWhy(report))
      return *error;
  return report;
}

Result<SearchReport> autopar::session::answerSearch(
    Session &session, const ModelRequest &model, const std::string &name,
    const SearchRequest &request, const std::string &why,
    const SearchControl &control, const ReportDetail &detail) {
  return SearchAnswer(session, model, request, why, detail).run(name, control);
}
