//===- SearchCommand.cpp - The best plans of a model ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelCommands.h"

#include "autopar/Hub/Hub.h"
#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Report/TextStyle.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Session/Session.h"
#include "autopar/Session/StepLimit.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <charconv>
#include <csignal>

using namespace autopar;
using namespace mlir;

/// Set by the first interrupt; the second one ends the process.
static volatile std::sig_atomic_t wasInterrupted = 0;

extern "C" void stopSearch(int signal) {
  wasInterrupted = 1;
  std::signal(signal, SIG_DFL);
}

static LogicalResult refuse(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return failure();
}

static int fail(const Error &error) {
  (void)refuse(error.str());
  return 1;
}

namespace {

class SearchCommand {
public:
  SearchCommand(const SearchArgument &search, PlanFlags &flags,
                const PlanValues &values)
      : search(search), flags(flags), values(values) {}

  int run();

private:
  std::string &valueOf(StringRef name);
  std::optional<Error> readRequest();
  PlanRequest planRequestOf(const SearchTarget &target, const Plan &plan,
                            int64_t batch) const;
  std::optional<Error> estimateBest(Session &session, const ModelRequest &model,
                                    SearchReport &report);
  std::optional<Error> answerWhy(Session &session, const ModelRequest &model,
                                 SearchReport &report);
  int write(const SearchReport &report);

  const SearchArgument &search;
  PlanFlags &flags;
  PlanValues values;
  SearchRequest request;
};

} // namespace

/// "64", "8|16,32", "8..512": from the first number, each twice the one before.
static Result<std::vector<int64_t>>
readNumbers(const char *flag, const std::string &text, int64_t most) {
  std::vector<int64_t> numbers;
  for (const std::string &word : wordsOf(text, "|,")) {
    size_t dots = word.find("..");
    std::optional<int64_t> first = parseCount(word.substr(0, dots));
    std::optional<int64_t> last =
        dots == word.npos ? first : parseCount(word.substr(dots + 2));
    if (!first || !last || *first < 1 || *last < *first || *last > most)
      return Error{"",
                   std::string(flag) + "=" + shorten(text) +
                       ": expected numbers from 1 to " + std::to_string(most),
                   "as in 64, 8|64|512 or 8..512, each twice the one before"};
    for (int64_t number = *first; number <= *last; number *= 2)
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::string &SearchCommand::valueOf(StringRef name) {
  static std::string none;
  for (size_t i = 0; i < values.size(); ++i)
    if (flags.all()[i].name == name)
      return values[i].empty() ? none : values[i].back();
  return none;
}

std::optional<Error> SearchCommand::readRequest() {
  for (const std::string &name : wordsOf(valueOf("hardware"), ","))
    request.machines.push_back(name);
  if (request.machines.size() > 1)
    for (size_t i = 0; i < values.size(); ++i)
      if (flags.all()[i].name == "hardware")
        values[i].clear();
  if (!flags.setAll(values, "autopar"))
    return Error();
  FailureOr<PlanRequest> base = readPlanRequest(flags.options(), refuse);
  if (failed(base))
    return Error();
  request.base = std::move(*base);
  if (!request.base.workload.phase)
    request.base.workload.phase = Phase::decode;
  if (request.base.plan.prefillChunk == 0)
    return Error{"", "--prefill-chunk=none: a search needs a number",
                 "give one that holds the prompts, as --prefill-chunk=1M"};
  Result<SearchSpace> space = parseSearchSpace(search.space);
  if (!space)
    return space.error();
  request.space = *space;
  if (!search.devices.empty()) {
    auto devices = readNumbers("--devices", search.devices, limits::maxDevices);
    if (!devices)
      return devices.error();
    request.devices = *devices;
  }
  auto batches = readNumbers(
      "--batch", search.batches.empty() ? "1..32768" : search.batches,
      limits::maxTokens);
  if (!batches)
    return batches.error();
  request.batches = *batches;
  request.verify = search.verify;
  request.goal = parseGoal(search.goal).value_or(Goal::throughput);
  request.cacheDirectory = cacheDirectory() + "/strategies";
  auto limit = parseStepLimit(search.sla, *request.base.workload.phase);
  if (!limit)
    return limit.error();
  request.maxStepUs = *limit;
  return std::nullopt;
}

PlanRequest SearchCommand::planRequestOf(const SearchTarget &target,
                                         const Plan &plan,
                                         int64_t batch) const {
  PlanRequest one = request.base;
  one.plan = plan;
  if (!request.machines.empty())
    one.target.hardware = target.machine.name;
  one.target.nodes = target.machine.pools.front().nodes;
  one.workload.batch = batch;
  return one;
}

/// The estimate of the best plan, through the passes: it says what a price does
/// not, and must say the same.
std::optional<Error> SearchCommand::estimateBest(Session &session,
                                                 const ModelRequest &model,
                                                 SearchReport &report) {
  if (!report.result.best)
    return std::nullopt;
  const SearchPoint &best = report.result.frontier[*report.result.best];
  Result<Report> estimate =
      session.estimate(model, planRequestOf(report.problem.targets[best.target],
                                            best.plan, best.batch));
  if (!estimate)
    return estimate.error();
  if (estimate->latency.stepTimeUs != best.stepUs)
    return Error{"",
                 "the search and the estimate of " + labelOf(best) +
                     " differ: " + formatNumber(best.stepUs) + " us and " +
                     formatNumber(estimate->latency.stepTimeUs) + " us",
                 "this is a defect of autopar"};
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
          model, planRequestOf(found->problem.targets.front(), *plan,
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
  if (std::optional<Error> error = readRequest())
    return error->message.empty() ? 1 : fail(*error);
  Result<ModelRequest> model = requestOf(search.model, search.model.name);
  if (!model)
    return fail(model.error());
  Session session([](const std::string &line) {
    llvm::errs() << "warning: " << line << "\n";
  });
  if (std::optional<Error> error =
          addModule(session, search.model, search.model.name))
    return fail(*error);
  std::signal(SIGINT, stopSearch);
  SearchControl control;
  control.threads = search.threads;
  control.progress = [](std::string_view what, size_t done, size_t all) {
    if (done % 16 == 0)
      showProgress(std::to_string(done) + " of " + std::to_string(all) + " " +
                   std::string(what));
    return wasInterrupted == 0;
  };
  Result<SearchOutcome> found = session.search(*model, request, control);
  showProgress("");
  if (!found)
    return fail(found.error());
  SearchReport report{search.model.name, std::move(found->problem),
                      std::move(found->result)};
  if (std::optional<Error> error = estimateBest(session, *model, report))
    return fail(*error);
  if (!search.why.empty() && report.result.complete)
    if (std::optional<Error> error = answerWhy(session, *model, report))
      return fail(*error);
  constexpr int interrupted = 130;
  int code = write(report);
  return report.result.complete ? code : interrupted;
}

int autopar::searchPlans(const SearchArgument &search, PlanFlags &flags,
                         const PlanValues &values) {
  return SearchCommand(search, flags, values).run();
}
