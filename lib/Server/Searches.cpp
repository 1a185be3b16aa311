//===- Searches.cpp - Paths of searches and sweeps ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include "autopar/Session/SweepModel.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::pipelines;
using namespace autopar::search;
using namespace autopar::server;
using namespace autopar::session;
using namespace autopar::sweep;

/// Refuses a goal that does not exist, because readers of flags would not
/// notice it.
static std::optional<Error> checkGoal(const GivenFlags &given) {
  std::string goal = given.other("goal");
  if (given.others.count("goal") == 0 || parseGoal(goal))
    return std::nullopt;
  return atFlag({"", "--goal: no such goal",
                 "throughput, throughput-per-device, latency, cost or devices"},
                given);
}

static SearchChoices textsOfSearch(const GivenFlags &given, const Call &call) {
  SearchChoices choices;
  choices.devices = given.other("devices");
  choices.batches = given.other("batch");
  choices.answer = given.other("output-tokens");
  choices.space = given.other("space");
  choices.goal = given.other("goal");
  choices.sla = given.other("sla");
  choices.why = given.other("why");
  choices.threads = call.limits.threads;
  return choices;
}

Answer autopar::server::search(Session &session, const Call &call) {
  call.body.allowOnly({"model", "config", "module", "weight_format", "flags"});
  Result<ModelRequest> model = readModel(session, call.body);
  if (!model)
    return model.error();
  PlanFlags flags;
  Result<GivenFlags> given = readFlagObject(
      call.body, "flags", flags,
      {isOfSearches,
       {"devices", "batch", "output-tokens", "space", "goal", "sla", "why"},
       /*haveLists=*/true});
  if (!given)
    return given.error();
  if (std::optional<Error> error = checkGoal(*given))
    return *error;
  SearchChoices choices = textsOfSearch(*given, call);
  Result<SearchRequest> request =
      readSearchRequest(choices, flags, given->values);
  if (!request)
    return atFlag(request.error(), *given);
  // Of a request, nothing is kept for later requests except models.
  request->cacheDirectory.clear();
  SearchControl control{call.limits.threads, call.progress};
  Result<SearchReport> report = answerSearch(session, *model, model->argument,
                                             *request, choices.why, control);
  if (!report)
    return atFlag(report.error(), *given);
  return writeJson(*report);
}

/// Returns the flags that are lists, those that change most slowly first: in
/// the order of the body's "order" or, without it, as they are given.
static std::vector<std::string> orderOf(const JsonReader &body,
                                        const GivenFlags &given) {
  if (!body.has("order"))
    return given.order;
  std::vector<std::string> order;
  for (const JsonReader &name : body.array("order").elements()) {
    order.push_back(name.asString());
    if (!llvm::is_contained(given.order, order.back()))
      name.fail("is no flag that was given");
  }
  for (const std::string &name : given.order)
    if (!llvm::is_contained(order, name))
      order.push_back(name);
  return order;
}

Answer autopar::server::sweep(Session &session, const Call &call) {
  const JsonReader &body = call.body;
  body.allowOnly({"model", "config", "module", "weight_format", "flags",
                  "search", "order"});
  Result<ModelRequest> model = readModel(session, body);
  if (!model)
    return model.error();
  PlanFlags flags;
  Result<GivenFlags> given =
      readFlagObject(body, "flags", flags,
                     {isOfPlans,
                      {"devices", "space", "goal", "sla"},
                      /*haveLists=*/true});
  if (!given)
    return given.error();
  if (std::optional<Error> error = checkGoal(*given))
    return *error;
  SweepChoices choices{textsOfSearch(*given, call),
                       body.booleanOr("search", false), orderOf(body, *given)};
  if (body.failed())
    return body.takeError();
  Result<ModelSweep> sweep = ModelSweep::read(choices, flags, given->values);
  if (!sweep)
    return atFlag(sweep.error(), *given);
  if (sweep->rows() > call.limits.sweepRows)
    return atFlag({"",
                   std::to_string(sweep->rows()) +
                       " rows, and a server computes at most " +
                       std::to_string(call.limits.sweepRows),
                   "the command line computes more"},
                  *given);
  Result<SweepReport> report =
      sweep->run(session, *model, model->argument,
                 [&](size_t done, size_t count, const std::string &) {
                   return call.progress("rows", done, count);
                 });
  if (!report)
    return atFlag(report.error(), *given);
  return writeJson(*report);
}
