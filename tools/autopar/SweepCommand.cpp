//===- SweepCommand.cpp - Estimates over ranges ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SweepCommand.h"

#include "Errors.h"
#include "Gnuplot.h"
#include "Interrupt.h"
#include "PlanArguments.h"

#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Session/SweepModel.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextStyle.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <set>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::sweep;

namespace {

class SweepCommand {
public:
  SweepCommand(const SweepArgument &sweep, const PlanFlags &flags,
               const PlanValues &values)
      : sweep(sweep), flags(flags), values(values) {}

  int run();

private:
  Result<ModelSweep> read() const;
  std::optional<Error> checkOutput(const std::vector<SweepAxis> &axes);
  bool showDone(size_t done, size_t count, const std::string &more);
  std::optional<Error> fill(ModelSweep &rows);
  std::optional<Error> write();
  std::optional<Error> draw();

  const SweepArgument &sweep;
  const PlanFlags &flags;
  PlanValues values;
  SweepReport report;
  std::string reportOutput = "-", gnuplot;
  std::chrono::steady_clock::time_point shownAt;
};

} // namespace

Result<ModelSweep> SweepCommand::read() const {
  SweepChoices choices{sweep.search, sweep.searches, sweep.order};
  return ModelSweep::read(choices, flags, values);
}

std::optional<Error>
SweepCommand::checkOutput(const std::vector<SweepAxis> &axes) {
  std::vector<std::string> given = valuesOf(flags, values, "report-output");
  if (!given.empty())
    reportOutput = given.back();
  if (sweep.svg.empty())
    return sweep.plot.empty()
               ? std::nullopt
               : std::optional(Error{"", "--plot needs --svg",
                                     "add --svg=out.svg, or leave it out"});
  if (sweep.svg == "-" && reportOutput == "-")
    return Error{"", "--svg=- and the report would be one text",
                 "give --report-output=FILE, or --svg=FILE"};
  if (std::optional<Error> error = checkPlot(axes))
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

/// Shows progress, at most every 100 ms. Returns whether to go on.
bool SweepCommand::showDone(size_t done, size_t count,
                            const std::string &more) {
  constexpr auto pause = std::chrono::milliseconds(100);
  auto now = std::chrono::steady_clock::now();
  if (now >= shownAt + pause) {
    shownAt = now;
    showProgress(std::to_string(done) + " of " + countOf(count, "row") + more);
  }
  return !wasInterrupted();
}

std::optional<Error> SweepCommand::fill(ModelSweep &rows) {
  const ModelArgument &argument = sweep.search.model;
  Result<ModelRequest> model = requestOf(argument, argument.name);
  if (!model)
    return model.error();
  std::set<std::string> said;
  Session session([&](const std::string &line) {
    showProgress("");
    if (said.insert(line).second)
      llvm::errs() << "warning: " << line << "\n";
  });
  if (std::optional<Error> error = addModule(session, argument, argument.name))
    return error;
  noteInterrupts();
  shownAt = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  Result<SweepReport> filled =
      rows.run(session, *model, argument.name,
               [&](size_t done, size_t count, const std::string &more) {
                 return showDone(done, count, more);
               });
  showProgress("");
  if (!filled)
    return filled.error();
  report = std::move(*filled);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Running the command
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
  Result<ModelSweep> rows = read();
  if (!rows)
    return printError(rows.error());
  std::optional<Error> error = checkOutput(rows->axes());
  if (!error)
    error = fill(*rows);
  if (!error)
    error = write();
  if (error)
    return printError(*error);
  return report.complete ? 0 : interruptedCode;
}

int autopar::sweepPlans(const SweepArgument &sweep, PlanFlags &flags,
                        const PlanValues &values) {
  return SweepCommand(sweep, flags, values).run();
}
