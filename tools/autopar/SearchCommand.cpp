//===- SearchCommand.cpp - The best plans of a model ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "FlagValues.h"
#include "Interrupt.h"
#include "SearchRequests.h"

#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Report/TextStyle.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/NumberList.h"
#include "autopar/Support/Words.h"

#include "llvm/Support/raw_ostream.h"

using namespace autopar;

namespace {

class SearchCommand {
public:
  SearchCommand(const SearchArgument &search, const PlanFlags &flags,
                const PlanValues &values)
      : search(search), flags(flags), values(values) {}

  int run();

private:
  std::string valueOf(const std::string &name);
  std::optional<Error> readRequest();
  std::optional<Error> estimateBest(Session &session, const ModelRequest &model,
                                    SearchReport &report);
  std::optional<Error> answerWhy(Session &session, const ModelRequest &model,
                                 SearchReport &report);
  int write(const SearchReport &report);

  const SearchArgument &search;
  const PlanFlags &flags;
  PlanValues values;
  SearchRequest request;
};

} // namespace

std::string SearchCommand::valueOf(const std::string &name) {
  const std::vector<std::string> &given = valuesOf(flags, values, name);
  return given.empty() ? "" : given.back();
}

std::optional<Error> SearchCommand::readRequest() {
  for (const std::string &name : wordsOf(valueOf("hardware"), ","))
    request.machines.push_back(name);
  if (request.machines.size() > 1)
    valuesOf(flags, values, "hardware").clear();
  std::optional<PlanRequest> base = readFlags(values);
  if (!base)
    return Error();
  request.base = std::move(*base);
  if (!request.base.workload.phase)
    request.base.workload.phase = Phase::decode;
  if (!search.devices.empty()) {
    auto devices = readCounts("--devices", search.devices, limits::maxDevices);
    if (!devices)
      return devices.error();
    request.devices = *devices;
  }
  auto batches = readCounts(
      "--batch", search.batches.empty() ? allBatches : search.batches,
      limits::maxTokens);
  if (!batches)
    return batches.error();
  request.batches = *batches;
  return readChoices(search, request);
}

std::optional<Error> SearchCommand::estimateBest(Session &session,
                                                 const ModelRequest &model,
                                                 SearchReport &report) {
  if (!report.result.best)
    return std::nullopt;
  Result<Report> estimate =
      estimatePoint(session, model, request, report.problem,
                    report.result.frontier[*report.result.best]);
  if (!estimate)
    return estimate.error();
  report.best = std::move(*estimate);
  return std::nullopt;
}

/// Searches the space of that plan alone.
std::optional<Error> SearchCommand::answerWhy(Session &session,
                                              const ModelRequest &model,
                                              SearchReport &report) {
  Result<Plan> plan = loadPlan(search.why);
  if (!plan)
    return plan.error();
  std::optional<int64_t> devices = plan->devices();
  if (!devices)
    return Error{"", "--why: the plan has open sizes", ""};
  SearchRequest one = request;
  one.space = spaceOf(*plan);
  one.devices = {*devices};
  Result<SearchOutcome> found = session.search(model, one);
  if (!found)
    return found.error();
  report.why = compareWith(report.result, found->result);
  report.why->plan = search.why;
  if (report.why->answer != SearchWhy::Answer::illegal)
    return std::nullopt;
  if (std::optional<Error> error = checkChoices(*plan)) {
    report.why->refusal = error->message;
    return std::nullopt;
  }
  if (Result<Report> refused = session.estimate(
          model, planRequestOf(request, found->problem.targets.front(), *plan,
                               request.batches.front()));
      !refused)
    report.why->refusal = refused.error().message;
  return std::nullopt;
}

int SearchCommand::write(const SearchReport &report) {
  std::string path = valueOf("report-output");
  path = path.empty() ? "-" : path;
  TextStyleScope style(path == "-" ? outputStyle() : TextStyle());
  std::string text = search.format == "json"  ? writeJson(report)
                     : search.format == "csv" ? writeCsv(report)
                                              : writeText(report);
  if (Result<bool> written = writeOutput(path, text); !written)
    return printError(written.error());
  if (search.plansOutput.empty())
    return 0;
  for (size_t i = 0; i < report.result.frontier.size(); ++i)
    if (Result<bool> written = writeFile(
            search.plansOutput + "/" + std::to_string(i + 1) + ".json",
            writePlan(report.result.frontier[i].plan));
        !written)
      return printError(written.error());
  return 0;
}

int SearchCommand::run() {
  if (std::optional<Error> error = readRequest())
    return printError(*error);
  Result<ModelRequest> model = requestOf(search.model, search.model.name);
  if (!model)
    return printError(model.error());
  Session session([](const std::string &line) {
    llvm::errs() << "warning: " << line << "\n";
  });
  if (std::optional<Error> error =
          addModule(session, search.model, search.model.name))
    return printError(*error);
  noteInterrupts();
  SearchControl control;
  control.threads = search.threads;
  control.progress = [](std::string_view what, size_t done, size_t all) {
    if (done % 16 == 0)
      showProgress(std::to_string(done) + " of " + std::to_string(all) + " " +
                   std::string(what));
    return !wasInterrupted();
  };
  Result<SearchOutcome> found = session.search(*model, request, control);
  showProgress("");
  if (!found)
    return printError(found.error());
  SearchReport report{search.model.name, std::move(found->problem),
                      std::move(found->result)};
  if (std::optional<Error> error = estimateBest(session, *model, report))
    return printError(*error);
  if (!search.why.empty() && report.result.complete)
    if (std::optional<Error> error = answerWhy(session, *model, report))
      return printError(*error);
  int code = write(report);
  return report.result.complete ? code : interruptedCode;
}

int autopar::searchPlans(const SearchArgument &search, PlanFlags &flags,
                         const PlanValues &values) {
  return SearchCommand(search, flags, values).run();
}
