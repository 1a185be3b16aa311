//===- Estimates.cpp - Paths of estimates ---------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include "autopar/Support/JsonText.h"
#include "autopar/Write/Json.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::report;
using namespace autopar::search;
using namespace autopar::server;
using namespace autopar::session;
using namespace autopar::writing;
using Json = nlohmann::ordered_json;

namespace {
/// A model and a plan of this model.
struct Question {
  ModelRequest model;
  PlanRequest plan;
};
} // namespace

static Result<Question> readQuestion(Session &session, const JsonReader &body) {
  Result<ModelRequest> model = readModel(session, body);
  if (!model)
    return model.error();
  Result<PlanRequest> plan = readPlan(body, "flags");
  if (!plan)
    return plan.error();
  return Question{std::move(*model), std::move(*plan)};
}

/// Gives an error of passes the location of the flags, unless it has a
/// location.
static Error ofFlags(Error error) {
  if (error.where.empty())
    error.where = std::string(bodyName) + ": /flags";
  return error;
}

Answer autopar::server::estimate(Session &session, const Call &call) {
  const JsonReader &body = call.body;
  body.allowOnly({"model", "config", "module", "weight_format", "flags",
                  "explain", "impact", "ir"});
  ReportDetail detail;
  detail.explain = body.booleanOr("explain", false);
  detail.impact = body.booleanOr("impact", false);
  bool withProgram = body.booleanOr("ir", false);
  if (body.failed())
    return body.takeError();
  Result<Question> question = readQuestion(session, body);
  if (!question)
    return question.error();
  std::string program;
  Result<Report> report =
      session.estimate(question->model, question->plan, detail,
                       withProgram ? &program : nullptr);
  if (!report)
    return ofFlags(report.error());
  std::string text = "{\"report\": " + writeJson(*report);
  if (withProgram)
    text += ", \"ir\": " + jsonString(program);
  return text + "}";
}

static Result<Report> reportOf(Session &session, const Call &call) {
  call.body.allowOnly({"model", "config", "module", "weight_format", "flags"});
  if (call.body.failed())
    return call.body.takeError();
  Result<Question> question = readQuestion(session, call.body);
  if (!question)
    return question.error();
  Result<Report> report = session.estimate(question->model, question->plan);
  if (!report)
    return ofFlags(report.error());
  return report;
}

Answer autopar::server::measureLayers(Session &session, const Call &call) {
  Result<Report> report = reportOf(session, call);
  if (!report)
    return report.error();
  Json layers = Json::array();
  for (const BreakdownRow &row : report->byLayer)
    layers.push_back({{"name", row.name},
                      {"count", row.count},
                      {"time_us", row.timeUs},
                      {"flops", writeInteger(row.flops)},
                      {"bytes", writeInteger(row.bytes)}});
  return printJson({{"model", report->model.name},
                    {"devices", report->mesh.devices},
                    {"step_time_us", report->latency.stepTimeUs},
                    {"layers", layers}});
}

/// Answers with those parts of a report that say how well a system does.
Answer autopar::server::measureSystem(Session &session, const Call &call) {
  Result<Report> report = reportOf(session, call);
  if (!report)
    return report.error();
  Json all = Json::parse(writeJson(*report), nullptr, false), some;
  for (const char *key : {"machine", "workload", "memory", "capacity",
                          "throughput", "cost", "training", "serving"})
    if (all.contains(key))
      some[key] = std::move(all[key]);
  some["step_time_us"] = report->latency.stepTimeUs;
  some["bound"] = report->latency.bound;
  return some.dump();
}

Answer autopar::server::compare(Session &session, const Call &call) {
  call.body.allowOnly(
      {"model", "config", "module", "weight_format", "first", "second"});
  Result<ModelRequest> model = readModel(session, call.body);
  if (!model)
    return model.error();
  Result<PlanRequest> first = readPlan(call.body, "first");
  if (!first)
    return first.error();
  Result<PlanRequest> second = readPlan(call.body, "second");
  if (!second)
    return second.error();
  Result<Comparison> comparison = session.compare(*model, *first, *second);
  if (!comparison)
    return comparison.error();
  return writeJson(comparison->differences);
}
