//===- SweepModel.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/SweepModel.h"

#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Session/SearchRequests.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/NumberList.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::report;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::sweep;

//===----------------------------------------------------------------------===//
// Checks before anything is computed
//===----------------------------------------------------------------------===//

std::optional<Error> ModelSweep::readAxes() {
  isService = isOfRequests(flags, values);
  Result<std::vector<SweepAxis>> axes =
      takeAxes(choices.order, choices.search.devices, flags, values);
  if (!axes)
    return axes.error();
  Result<size_t> points = countPoints(*axes);
  if (!points)
    return points.error();
  report.axes = std::move(*axes);
  count = *points;
  return std::nullopt;
}

std::optional<Error> ModelSweep::checkPlans() {
  const SearchChoices &search = choices.search;
  if (isService) {
    if (searches())
      return Error{"", "a sweep of searches has steps, not requests",
                   "leave out --search and --devices, or --rate and "
                   "--concurrency"};
    if (!search.sla.empty())
      valuesOf(flags, values, "sla") = {search.sla};
  } else if (!search.sla.empty() && !searches()) {
    return Error{"", "--sla needs --search, --rate or --concurrency",
                 "add one of them, or leave it out"};
  }
  if (!searches()) {
    for (auto [flag, text] : {std::pair("--space", &search.space),
                              std::pair("--goal", &search.goal)})
      if (!text->empty())
        return Error{"", std::string(flag) + " needs --search",
                     "add --search, or leave it out"};
    return std::nullopt;
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (const PlanFlag &flag = flags.all()[i];
        !values[i].empty() && !isOfAllPlans(flag.name))
      return Error{"",
                   "--" + flag.name + " says the plan that " +
                       (choices.searches ? "--search" : "--devices") +
                       " looks for",
                   "give one of them; --space=tp=8 limits what is searched"};
  report.goal = search.goal.empty() ? "throughput" : search.goal;
  return std::nullopt;
}

Result<PlanRequest> ModelSweep::requestAt(const SweepPoint &point) const {
  return searches() ? readFlagsOfAllPlans(flags, valuesAt(point))
                    : readFlags(valuesAt(point));
}

std::optional<Error> ModelSweep::checkFirst() const {
  Result<PlanRequest> first = requestAt(pointAt(report.axes, 0));
  if (!first)
    return first.error();
  if (!searches())
    return std::nullopt;
  SearchRequest request;
  request.variants.push_back({std::move(*first)});
  return readChoices(choices.search, request);
}

Result<ModelSweep> ModelSweep::read(const SweepChoices &choices,
                                    const PlanFlags &flags, PlanValues values) {
  ModelSweep sweep(choices, flags, std::move(values));
  // An error that all points have is also an error of the first point.
  std::optional<Error> error = sweep.readAxes();
  if (!error)
    error = sweep.checkPlans();
  if (!error)
    error = sweep.checkFirst();
  if (error)
    return *error;
  return sweep;
}

//===----------------------------------------------------------------------===//
// Computing the rows
//===----------------------------------------------------------------------===//

static std::string reasonOf(const Error &error) {
  return Error{error.where, error.message, ""}.str() +
         (error.note.empty() ? "" : " (" + error.note + ")");
}

std::optional<Error> ModelSweep::setSearched(const SweepPoint &point,
                                             SearchRequest &request) const {
  for (size_t i = 0; i < point.size(); ++i)
    if (report.axes[i].name == "devices")
      request.devices = {report.axes[i].values[point[i]].get<int64_t>()};
  if (auto batch = request.variants.front().base.workload.batch)
    request.batches = {*batch};
  else if (auto all = readCounts("--batch", allBatches, limits::maxTokens))
    request.batches = *all;
  return readChoices(choices.search, request);
}

/// Returns why a complete search has neither a best plan nor one that does not
/// fit.
static std::string whyNone(const SearchOutcome &found) {
  if (found.result.frontier.empty())
    return "no plan of the space is legal (relax its limits)";
  return "no plan takes at most " + formatTime(*found.problem.stepLimitUs()) +
         " a step";
}

/// Returns the row of the best plan or, if there is none, of the closest plan;
/// nothing if the search was interrupted.
std::optional<SweepRow>
ModelSweep::searchAt(Session &session, const ModelRequest &model,
                     const SweepPoint &point, const PlanRequest &base,
                     const SweepProgress &progress) const {
  auto refused = [&](const std::string &reason) {
    return SweepRow{point, "", {}, reason};
  };
  SearchRequest request;
  request.variants.push_back({base});
  if (std::optional<Error> error = setSearched(point, request))
    return refused(reasonOf(*error));
  SearchControl control;
  control.threads = choices.search.threads;
  control.progress = [&](std::string_view what, size_t done, size_t all) {
    return progress(report.rows.size(), count,
                    ", " + std::to_string(done) + " of " + std::to_string(all) +
                        " " + std::string(what));
  };
  Result<SearchOutcome> found = session.search(model, request, control);
  if (!found)
    return refused(reasonOf(found.error()));
  const SearchResult &result = found->result;
  if (!result.complete)
    return std::nullopt;
  bool isUnfit = result.frontier.empty() && result.closest;
  if (!result.best && !isUnfit)
    return refused(whyNone(*found));
  SearchPoint shown;
  if (result.best)
    shown = result.frontier[*result.best];
  else
    shown = {result.closest->target, result.closest->plan,
             result.closest->batch};
  Result<Report> estimate =
      isUnfit ? estimatePlan(session, model, request, *found, shown.target,
                             shown.plan, shown.batch)
              : estimatePoint(session, model, request, *found, shown);
  if (!estimate)
    return refused(reasonOf(estimate.error()));
  return SweepRow::of(point, *estimate, labelOf(shown));
}

std::optional<SweepRow> ModelSweep::rowAt(Session &session,
                                          const ModelRequest &model,
                                          const SweepPoint &point,
                                          const PlanRequest &request,
                                          const SweepProgress &progress) const {
  if (searches())
    return searchAt(session, model, point, request, progress);
  Result<Report> estimate = session.estimate(model, request);
  if (!estimate)
    return SweepRow{point, "", {}, reasonOf(estimate.error())};
  return SweepRow::of(point, *estimate);
}

Result<SweepReport> ModelSweep::run(Session &session, const ModelRequest &model,
                                    const std::string &name,
                                    const SweepProgress &progress) {
  report.model = name;
  // The model is imported before the first row, so that its errors come first.
  if (std::optional<Error> error = session.run(
          model, [](mlir::PassManager &) { return mlir::success(); }))
    return *error;
  for (size_t i = 0; i < count && progress(i, count, ""); ++i) {
    SweepPoint point = pointAt(report.axes, i);
    Result<PlanRequest> request = requestAt(point);
    if (!request)
      return request.error();
    std::optional<SweepRow> row =
        rowAt(session, model, point, *request, progress);
    if (!row)
      break;
    report.rows.push_back(std::move(*row));
  }
  report.complete = report.rows.size() == count;
  return report;
}
