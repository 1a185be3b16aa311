//===- SearchCommand.cpp - The best plans of a model ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlagValues.h"
#include "Interrupt.h"
#include "ModelCommands.h"

#include "autopar/Report/TextStyle.h"
#include "autopar/Session/SearchRequests.h"
#include "autopar/Support/File.h"

#include "llvm/Support/raw_ostream.h"

using namespace autopar;
using namespace mlir;

static int fail(const Error &error) {
  llvm::errs() << "error: " << error.str() << "\n";
  return 1;
}

namespace {

class SearchCommand {
public:
  SearchCommand(const SearchArgument &search, SearchRequest request,
                std::string output)
      : search(search), request(std::move(request)), output(std::move(output)) {
  }

  int run();

private:
<<<<<<< HEAD
  void findCloseCalls(Session &session, SearchReport &report) const;
  std::optional<Error> estimateBest(Session &session, SearchReport &report);
  std::optional<Error> estimateClosest(Session &session, SearchReport &report);
  std::optional<Error> answerWhy(Session &session, SearchReport &report);
  /// A page says of each number why.
  ReportDetail detail() const {
    ReportDetail detail;
    detail.explain = search.format == "html";
    return detail;
  }
=======
  std::string outputPath() const;
>>>>>>> 4531e36 (autopar serve answers over HTTP: models, machines, estimates, searches, sweeps and placements, by processes that can be ended)
  int write(const SearchReport &report);

  const SearchArgument &search;
  const SearchRequest request;
<<<<<<< HEAD
  const std::string output;
  ModelRequest model;
  SearchOutcome found;
=======
>>>>>>> 4531e36 (autopar serve answers over HTTP: models, machines, estimates, searches, sweeps and placements, by processes that can be ended)
};

} // namespace

<<<<<<< HEAD
void SearchCommand::findCloseCalls(Session &session,
                                   SearchReport &report) const {
  if (!report.best || report.result.rivals.empty() || found.problem.trains())
    return;
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

/// Of what does not fit, where nothing does.
std::optional<Error> SearchCommand::estimateClosest(Session &session,
                                                    SearchReport &report) {
  if (!found.result.frontier.empty() || !found.result.closest)
    return std::nullopt;
  const UnfitPoint &closest = *found.result.closest;
  Result<Report> estimated =
      estimatePlan(session, model, request, found, closest.target, closest.plan,
                   closest.batch, detail());
  if (!estimated)
    return estimated.error();
  report.closest = std::move(*estimated);
  return std::nullopt;
}

std::optional<Error> SearchCommand::estimateBest(Session &session,
                                                 SearchReport &report) {
  if (request.requests)
    return std::nullopt;
  if (!found.result.best)
    return estimateClosest(session, report);
  Result<Report> estimated =
      estimatePoint(session, model, request, found,
                    found.result.frontier[*found.result.best], detail());
  if (!estimated)
    return estimated.error();
  report.best = std::move(*estimated);
  return std::nullopt;
}

/// Searches the space of that plan alone.
std::optional<Error> SearchCommand::answerWhy(Session &session,
                                              SearchReport &report) {
  Result<Plan> plan = loadPlan(search.why);
  if (!plan)
    return plan.error();
  std::optional<int64_t> devices = plan->devices();
  if (!devices)
    return Error{"", "--why: the plan has open sizes", ""};
  SearchRequest one = request;
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
  report.why->plan = search.why;
  if (report.why->answer != SearchWhy::Answer::illegal)
    return std::nullopt;
  if (std::optional<Error> error = checkChoices(*plan)) {
    report.why->refusal = error->message;
    return std::nullopt;
  }
  if (Result<Report> refused = estimatePlan(session, model, request, found, 0,
                                            *plan, request.batches.front());
      !refused)
    report.why->refusal = refused.error().message;
  return std::nullopt;
=======
/// That the flags say: of all variants.
std::string SearchCommand::outputPath() const {
  for (const GivenFlag &flag : request.variants.front().flags)
    if (flag.name == "report-output")
      return flag.value;
  return "-";
>>>>>>> 4531e36 (autopar serve answers over HTTP: models, machines, estimates, searches, sweeps and placements, by processes that can be ended)
}

int SearchCommand::write(const SearchReport &report) {
  TextStyleScope style(output == "-" ? outputStyle() : TextStyle());
  Result<std::string> text = search.format == "html"   ? writePage(report)
                             : search.format == "json" ? writeJson(report)
                             : search.format == "csv"  ? writeCsv(report)
                                                       : writeText(report);
  if (!text)
    return fail(text.error());
  if (Result<bool> written = writeOutput(output, *text); !written)
    return fail(written.error());
  if (search.plansOutput.empty())
    return 0;
  for (size_t i = 0; i < report.result.frontier.size(); ++i)
    if (Result<bool> written = writeFile(
            search.plansOutput + "/" + std::to_string(i + 1) + ".json",
            writePlan(report.result.frontier[i].plan));
        !written)
      return fail(written.error());
  return 0;
}

int SearchCommand::run() {
  Result<ModelRequest> model = requestOf(search.model, search.model.name);
  if (!model)
    return fail(model.error());
  Session session([](const std::string &line) {
    llvm::errs() << "warning: " << line << "\n";
  });
  if (std::optional<Error> error =
          addModule(session, search.model, search.model.name))
    return fail(*error);
  noteInterrupts();
  SearchControl control;
  control.threads = search.threads;
  control.progress = [](std::string_view what, size_t done, size_t all) {
    if (done % 16 == 0)
      showProgress(std::to_string(done) + " of " + std::to_string(all) + " " +
                   std::string(what));
    return !wasInterrupted();
  };
  Result<SearchReport> report = answerSearch(session, *model, search.model.name,
                                             request, search.why, control);
  showProgress("");
  if (!report)
    return fail(report.error());
  int code = write(*report);
  return report->result.complete ? code : interruptedCode;
}

int autopar::searchPlans(const SearchArgument &search, PlanFlags &flags,
                         const PlanValues &values) {
  SearchChoices choices = search;
  choices.weightFormat = search.model.weightFormat;
  Result<SearchRequest> request = readSearchRequest(choices, flags, values);
  if (!request)
    return request.error().message.empty() ? 1 : fail(request.error());
  PlanValues own = values;
  std::vector<std::string> output = valuesOf(flags, own, "report-output");
  return SearchCommand(search, std::move(*request),
                       output.empty() ? "-" : output.back())
      .run();
}
