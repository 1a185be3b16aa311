//===- SweepCommand.cpp - Estimates over ranges ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SweepCommand.h"

#include "Errors.h"
#include "FlagValues.h"
#include "Gnuplot.h"
#include "Interrupt.h"
#include "PlanArguments.h"
#include "SearchRequests.h"
#include "SweepAxes.h"

#include "autopar/Report/TextStyle.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/NumberList.h"
#include "autopar/Support/Text.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <set>

using namespace autopar;

namespace {

class SweepCommand {
public:
  SweepCommand(const SweepArgument &sweep, const PlanFlags &flags,
               PlanValues values)
      : sweep(sweep), flags(flags), values(std::move(values)) {}

  int run();

private:
  bool searches() const {
    return sweep.searches || !sweep.search.devices.empty();
  }
  std::optional<Error> readAxes();
  std::optional<Error> checkPlans();
  std::optional<Error> checkOutput();
  std::optional<Error> start(Session &session);

  PlanValues valuesAt(const SweepPoint &point) const {
    return autopar::valuesAt(report.axes, point, flags, values);
  }
  std::optional<Error> setSearched(const SweepPoint &point,
                                   SearchRequest &request) const;
  std::optional<SweepRow> rowAt(Session &session, const SweepPoint &point,
                                const PlanRequest &request);
  std::optional<SweepRow> searchAt(Session &session, const SweepPoint &point,
                                   const PlanRequest &base);
  bool showDone(const std::string &more = "");
  int fill(Session &session);
  std::optional<Error> write();
  std::optional<Error> draw();

  const SweepArgument &sweep;
  const PlanFlags &flags;
  PlanValues values;
  ModelRequest model;
  SweepReport report;
  size_t count = 0;
  bool isService = false;
  std::string reportOutput = "-", gnuplot;
  std::chrono::steady_clock::time_point shownAt;
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks before anything is computed
//===----------------------------------------------------------------------===//

std::optional<Error> SweepCommand::readAxes() {
  isService = isOfRequests(flags, values);
  Result<std::vector<SweepAxis>> axes =
      takeAxes(sweep.order, sweep.search.devices, flags, values);
  if (!axes)
    return axes.error();
  Result<size_t> points = countPoints(*axes);
  if (!points)
    return points.error();
  report.axes = std::move(*axes);
  count = *points;
  return std::nullopt;
}

std::optional<Error> SweepCommand::checkPlans() {
  const SearchArgument &search = sweep.search;
  if (isService) {
    if (searches())
      return Error{"", "a sweep of searches has steps, not requests",
                   "leave out --search and --devices, or --rate and "
                   "--concurrency"};
    if (!search.sla.empty())
      valuesOf(flags, values, "sla") = {search.sla};
  } else if (!search.sla.empty() && !searches()) {
    return Error{"", "--sla is about --search, --rate or --concurrency",
                 "add one of them, or leave it out"};
  }
  if (!searches()) {
    for (auto [flag, text] : {std::pair("--space", &search.space),
                              std::pair("--goal", &search.goal)})
      if (!text->empty())
        return Error{"", std::string(flag) + " is about --search",
                     "add --search, or leave it out"};
    return std::nullopt;
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (const PlanFlag &flag = flags.all()[i];
        !values[i].empty() && !isOfAllPlans(flag.name))
      return Error{"",
                   "--" + flag.name + " says the plan that " +
                       (sweep.searches ? "--search" : "--devices") +
                       " looks for",
                   "give one of them; --space=tp=8 limits what is searched"};
  report.goal = search.goal.empty() ? "throughput" : search.goal;
  return std::nullopt;
}

std::optional<Error> SweepCommand::checkOutput() {
  std::vector<std::string> given = valuesOf(flags, values, "report-output");
  if (!given.empty())
    reportOutput = given.back();
  if (sweep.svg.empty())
    return sweep.plot.empty()
               ? std::nullopt
               : std::optional(Error{"", "--plot is about --svg",
                                     "add --svg=out.svg, or leave it out"});
  if (sweep.svg == "-" && reportOutput == "-")
    return Error{"", "--svg=- and the report would be one text",
                 "give --report-output=FILE, or --svg=FILE"};
  if (std::optional<Error> error = checkPlot(report.axes))
    return Error{"", "--svg=" + shorten(sweep.svg) + ": " + error->message,
                 error->note};
  Result<std::string> program = findGnuplot();
  if (!program)
    return Error{"",
                 "--svg=" + shorten(sweep.svg) + ": " + program.error().message,
                 program.error().note};
  gnuplot = *program;
  return std::nullopt;
}

/// Finds the model, once.
std::optional<Error> SweepCommand::start(Session &session) {
  const ModelArgument &argument = sweep.search.model;
  report.model = argument.name;
  Result<ModelRequest> request = requestOf(argument, argument.name);
  if (!request)
    return request.error();
  model = std::move(*request);
  if (std::optional<Error> error = addModule(session, argument, argument.name))
    return error;
  return session.run(model,
                     [](mlir::PassManager &) { return mlir::success(); });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static std::string reasonOf(const Error &error) {
  return Error{error.where, error.message, ""}.str() +
         (error.note.empty() ? "" : " (" + error.note + ")");
}

/// After a second, what is done; whether to go on.
bool SweepCommand::showDone(const std::string &more) {
  constexpr auto pause = std::chrono::milliseconds(100);
  auto now = std::chrono::steady_clock::now();
  if (now >= shownAt + pause) {
    shownAt = now;
    showProgress(std::to_string(report.rows.size()) + " of " +
                 countOf(count, "row") + more);
  }
  return !wasInterrupted();
}

std::optional<Error> SweepCommand::setSearched(const SweepPoint &point,
                                               SearchRequest &request) const {
  for (size_t i = 0; i < point.size(); ++i)
    if (report.axes[i].name == "devices")
      request.devices = {report.axes[i].values[point[i]].get<int64_t>()};
  if (auto batch = request.variants.front().base.workload.batch)
    request.batches = {*batch};
  else if (auto all = readCounts("--batch", allBatches, limits::maxTokens))
    request.batches = *all;
  return readChoices(sweep.search, request);
}

/// Why a search that went to its end has found neither the best plan nor one
/// that does not fit.
static std::string whyNone(const SearchOutcome &found) {
  if (found.result.frontier.empty())
    return "no plan of the space is legal (free some of its limits)";
  return "no plan takes at most " + formatTime(*stepLimitUs(found.problem)) +
         " a step";
}

/// The row of the best plan, or else of the one that comes closest to fitting;
/// nothing where it was interrupted.
std::optional<SweepRow> SweepCommand::searchAt(Session &session,
                                               const SweepPoint &point,
                                               const PlanRequest &base) {
  auto refused = [&](const std::string &reason) {
    return SweepRow{point, "", {}, reason};
  };
  SearchRequest request;
  request.variants.push_back({base});
  if (std::optional<Error> error = setSearched(point, request))
    return refused(reasonOf(*error));
  SearchControl control;
  control.threads = sweep.search.threads;
  control.progress = [&](std::string_view what, size_t done, size_t all) {
    return showDone(", " + std::to_string(done) + " of " + std::to_string(all) +
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

std::optional<SweepRow> SweepCommand::rowAt(Session &session,
                                            const SweepPoint &point,
                                            const PlanRequest &request) {
  if (searches())
    return searchAt(session, point, request);
  Result<Report> estimate = session.estimate(model, request);
  if (!estimate)
    return SweepRow{point, "", {}, reasonOf(estimate.error())};
  return SweepRow::of(point, *estimate);
}

/// Adds the rows; the exit code.
int SweepCommand::fill(Session &session) {
  noteInterrupts();
  shownAt = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (size_t i = 0; i < count && showDone(); ++i) {
    SweepPoint point = pointAt(report.axes, i);
    std::optional<PlanRequest> request = readFlags(valuesAt(point));
    if (!request)
      return 1;
    std::optional<SweepRow> row = rowAt(session, point, *request);
    if (!row)
      break;
    report.rows.push_back(std::move(*row));
  }
  showProgress("");
  report.complete = report.rows.size() == count;
  return report.complete ? 0 : interruptedCode;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

std::optional<Error> SweepCommand::draw() {
  if (sweep.svg.empty())
    return std::nullopt;
  Result<std::string> script =
      plotScript(report, sweep.plot.empty() ? "tokens_per_s" : sweep.plot);
  Result<std::string> picture = script ? runGnuplot(gnuplot, *script) : script;
  if (!picture)
    return Error{"",
                 "--svg=" + shorten(sweep.svg) + ": " + picture.error().message,
                 picture.error().note};
  Result<bool> written = writeOutput(sweep.svg, *picture);
  return written ? std::nullopt : std::optional(written.error());
}

std::optional<Error> SweepCommand::write() {
  TextStyleScope style(reportOutput == "-" ? outputStyle() : TextStyle());
  const std::string &format = sweep.search.format;
  std::string text = format == "json"  ? writeJson(report)
                     : format == "csv" ? writeCsv(report)
                                       : writeText(report);
  if (Result<bool> written = writeOutput(reportOutput, text); !written)
    return written.error();
  bool isRefused = std::all_of(report.rows.begin(), report.rows.end(),
                               [](const auto &row) { return row.isRefused(); });
  if (!isRefused)
    return draw();
  if (report.complete)
    return Error{"", "all rows are refused: " + report.rows.front().refusal,
                 ""};
  return std::nullopt;
}

int SweepCommand::run() {
  for (auto check : {&SweepCommand::readAxes, &SweepCommand::checkPlans,
                     &SweepCommand::checkOutput})
    if (std::optional<Error> error = (this->*check)())
      return printError(*error);
  // What is wrong at all points is wrong at the first.
  std::optional<PlanRequest> first =
      readFlags(valuesAt(pointAt(report.axes, 0)));
  if (!first)
    return 1;
  if (searches()) {
    SearchRequest request;
    request.variants.push_back({std::move(*first)});
    if (std::optional<Error> error = readChoices(sweep.search, request))
      return printError(*error);
  }
  std::set<std::string> said;
  Session session([&](const std::string &line) {
    showProgress("");
    if (said.insert(line).second)
      llvm::errs() << "warning: " << line << "\n";
  });
  if (std::optional<Error> error = start(session))
    return printError(*error);
  int code = fill(session);
  if (code == 1)
    return code;
  if (std::optional<Error> error = write())
    return printError(*error);
  return code;
}

int autopar::sweepPlans(const SweepArgument &sweep, PlanFlags &flags,
                        const PlanValues &values) {
  return SweepCommand(sweep, flags, values).run();
}
