//===- SearchRequests.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRequests.h"

#include "autopar/Hub/Hub.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using llvm::StringRef;

/// "tpot:30ms" or "ttft:1.5s", of the phase that has it.
static std::optional<Error> readSla(const std::string &sla,
                                    SearchRequest &request) {
  if (sla.empty())
    return std::nullopt;
  bool isPrefill = request.base.workload.phase == Phase::prefill;
  std::string name = isPrefill ? "ttft" : "tpot";
  StringRef text = sla;
  double value = 0;
  constexpr std::pair<const char *, double> units[] = {
      {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
  if (text.consume_front(name) && text.consume_front(":"))
    for (auto [unit, us] : units) {
      StringRef digits = text;
      if (digits.consume_back(unit) && !digits.getAsDouble(value) &&
          value > 0) {
        request.maxStepUs = value * us;
        return std::nullopt;
      }
    }
  return Error{"",
               "--sla=" + shorten(sla) + ": expected " + name + " and a time",
               "as in --sla=" + name + (isPrefill ? ":500ms" : ":30ms")};
}

std::optional<Error> autopar::readChoices(const SearchArgument &search,
                                          SearchRequest &request) {
  if (request.base.plan.prefillChunk == 0)
    return Error{"", "--prefill-chunk=none: a search needs a number",
                 "give one that holds the prompts, as --prefill-chunk=1M"};
  Result<SearchSpace> space = parseSearchSpace(search.space);
  if (!space)
    return space.error();
  request.space = *space;
  request.verify = search.verify;
  request.goal = parseGoal(search.goal).value_or(Goal::throughput);
  request.cacheDirectory = cacheDirectory() + "/strategies";
  return readSla(search.sla, request);
}

PlanRequest autopar::planRequestOf(const SearchRequest &request,
                                   const SearchTarget &target, const Plan &plan,
                                   int64_t batch) {
  PlanRequest one = request.base;
  one.plan = plan;
  if (!request.machines.empty())
    one.target.hardware = target.machine.name;
  one.target.nodes = target.machine.pools.front().nodes;
  one.workload.batch = batch;
  return one;
}

Result<Report> autopar::estimatePoint(Session &session,
                                      const ModelRequest &model,
                                      const SearchRequest &request,
                                      const SearchProblem &problem,
                                      const SearchPoint &point) {
  Result<Report> estimate = session.estimate(
      model, planRequestOf(request, problem.targets[point.target], point.plan,
                           point.batch));
  if (estimate && estimate->latency.stepTimeUs != point.stepUs)
    return Error{"",
                 "the search and the estimate of " + labelOf(point) +
                     " differ: " + formatNumber(point.stepUs) + " us and " +
                     formatNumber(estimate->latency.stepTimeUs) + " us",
                 "this is a defect of autopar"};
  return estimate;
}
