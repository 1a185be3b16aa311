//===- CompareCommand.cpp - Models, machines and plans side by side -------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelCommands.h"

#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Session/Session.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextStyle.h"
#include "autopar/Support/Words.h"
#include "autopar/Write/Json.h"
#include "autopar/Write/Page.h"
#include "autopar/Write/Text.h"

#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::writing;
using namespace mlir;

namespace {

LogicalResult refuse(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return failure();
}

int fail(const Twine &message) {
  (void)refuse(message);
  return 1;
}

/// Compares every combination of a model, a machine and a plan.
class Comparer {
public:
  Comparer(const ModelArgument &model, PlanFlags &flags,
           const PlanValues &values)
      : model(model), flags(flags), values(values) {}

  int run();

private:
  std::vector<std::string> &valueOf(PlanValues &all, const std::string &name) {
    return valuesOf(flags, all, name);
  }
  std::vector<std::string> wordsOfFlag(const std::string &name) {
    std::vector<std::string> all;
    for (const std::string &value : valueOf(values, name))
      for (std::string &word : wordsOf(value, ","))
        all.push_back(std::move(word));
    return all;
  }

  LogicalResult readLists();
  int compareTwo();
  int compareAll();
  LogicalResult addRow(Session &session, const std::string &name,
                       size_t machine, const std::string &plan);
  int write();
  std::string format();

  const ModelArgument &model;
  PlanFlags &flags;
  PlanValues values;
  std::vector<std::string> models, machines, plans, prices;
  std::vector<PlanTableRow> rows;
};

} // namespace

LogicalResult Comparer::readLists() {
  models = wordsOf(model.name, ",");
  machines = wordsOfFlag("hardware");
  prices = wordsOfFlag("price");
  for (const char *flag : {"diff-plans", "plan"})
    for (const std::string &text : valueOf(values, flag))
      for (std::string &plan : splitPlans(text))
        plans.push_back(std::move(plan));
  if (models.empty())
    models = {model.name};
  if (machines.empty())
    machines = {""};
  if (plans.empty())
    plans = {""};
  if (prices.size() > 1 && prices.size() != machines.size())
    return refuse("--price has " + Twine(prices.size()) + " prices for " +
                  Twine(machines.size()) +
                  " machines: give one, or as many as --hardware has");
  if (plans.size() == 1 && !plans.front().empty())
    if (Result<Plan> plan = loadPlan(plans.front()); !plan)
      return refuse("--plans: " + plan.error().str());
  if (models.size() * machines.size() * plans.size() < 2)
    return refuse("there is one plan, one machine and one model: give more "
                  "than one of --plans='tp8; tp4,pp2', --hardware=a,b or "
                  "models");
  return success();
}

/// Prints the differences of two plans. Returns the exit code.
int Comparer::compareTwo() {
  valueOf(values, "diff-plans") = {plans[0] + ";" + plans[1]};
  valueOf(values, "plan").clear();
  return estimate(model, flags, values);
}

LogicalResult Comparer::addRow(Session &session, const std::string &name,
                               size_t machine, const std::string &plan) {
  PlanValues own = values;
  auto set = [&](const std::string &flag, const std::string &value) {
    valueOf(own, flag).clear();
    if (!value.empty())
      valueOf(own, flag) = {value};
  };
  set("diff-plans", "");
  set("hardware", machines[machine]);
  set("plan", plan);
  if (!prices.empty())
    set("price", prices[prices.size() == 1 ? 0 : machine]);
  Result<PlanRequest> request = readFlags(own);
  Result<ModelRequest> asked = requestOf(model, name);
  if (!request)
    return request.error().message.empty() ? failure()
                                           : refuse(request.error().str());
  if (!asked)
    return refuse(asked.error().str());
  ReportDetail detail;
  // The report explains its numbers if the output is a page, because pages show
  // derivations.
  detail.explain = format() == "html";
  Result<Report> report = session.estimate(*asked, *request, detail);
  PlanTableRow row{name, machines[machine], plan, std::nullopt, ""};
  if (report)
    row.report = std::move(*report);
  else
    row.refusal =
        report.error().message +
        (report.error().note.empty() ? "" : " (" + report.error().note + ")");
  rows.push_back(std::move(row));
  return success();
}

std::string Comparer::format() {
  std::vector<std::string> given = valueOf(values, "estimate");
  return given.empty() ? "text" : given.back();
}

int Comparer::compareAll() {
  if (std::string kind = format();
      kind != "text" && kind != "json" && kind != "html")
    return fail("unknown report format '" + kind +
                "', expected text, json or html");
  for (const char *flag : {"brief", "explain", "impact", "verbose", "trace",
                           "simulate", "seed", "requests", "requests-output"})
    if (!valueOf(values, flag).empty())
      return fail(Twine("--") + flag +
                  " has no effect on a table: give it to autopar estimate");
  std::set<std::string> said;
  Session session([&](const std::string &line) {
    if (said.insert(line).second)
      llvm::errs() << "warning: " << line << "\n";
  });
  for (const std::string &name : models)
    for (size_t machine = 0; machine < machines.size(); ++machine)
      for (const std::string &plan : plans)
        if (failed(addRow(session, name, machine, plan)))
          return 1;
  return write();
}

int Comparer::write() {
  if (llvm::none_of(rows,
                    [](const auto &row) { return row.report.has_value(); }))
    return fail(rows.front().refusal);
  std::vector<std::string> output = valueOf(values, "report-output");
  std::string kind = format();
  std::string path = output.empty() ? "-" : output.back();
  TextStyleScope style(path == "-" ? outputStyle() : TextStyle());
  Result<std::string> text = kind == "html"   ? writePage(rows)
                             : kind == "json" ? writeJson(rows)
                                              : writeText(rows);
  if (!text)
    return fail(text.error().str());
  Result<bool> written = writeOutput(path, *text);
  return written ? 0 : fail(written.error().str());
}

int Comparer::run() {
  if (failed(readLists()))
    return 1;
  bool isOfSteps = valueOf(values, "rate").empty() &&
                   valueOf(values, "concurrency").empty() &&
                   valueOf(values, "requests").empty();
  if (isOfSteps && models.size() == 1 && machines.size() == 1 &&
      plans.size() == 2)
    return compareTwo();
  return compareAll();
}

int autopar::compare(const ModelArgument &model, PlanFlags &flags,
                     const PlanValues &values) {
  return Comparer(model, flags, values).run();
}
