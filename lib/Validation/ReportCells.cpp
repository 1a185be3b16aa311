//===- ReportCells.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportCells.h"

#include "autopar/Support/Text.h"

#include <cstdio>

using namespace autopar;
using namespace autopar::validation;

static std::string print(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string percent(double share) { return print("%.1f", share * 100); }

static std::string count(size_t number) {
  return formatInteger(int64_t(number));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

Cells autopar::validation::errorHead() {
  return {"",      "rows",   "predicted", "MAPE %",  "median %",
          "p90 %", "bias %", "in 10 %",   "in 20 %", "in 30 %"};
}

Cells autopar::validation::errorCells(const std::string &name,
                                      const ErrorFigures &figures) {
  Cells cells = {name, count(figures.rows), count(figures.n)};
  if (figures.n)
    cells.insert(cells.end(),
                 {percent(figures.mape), percent(figures.median),
                  percent(figures.p90), print("%+.1f", figures.bias * 100),
                  percent(figures.within10), percent(figures.within20),
                  percent(figures.within30)});
  return cells;
}

std::vector<Cells> autopar::validation::errorRows(const ErrorSection &section) {
  std::vector<Cells> rows = {errorCells("all", section.all)};
  for (const ErrorTable &table : section.tables) {
    if (table.groups.empty())
      continue;
    rows.push_back({"by " + table.by});
    for (const ErrorTable::Group &group : table.groups)
      rows.push_back(errorCells("  " + group.key, group.figures));
  }
  return rows;
}

SectionPlace autopar::validation::placeOf(const ErrorSection &section,
                                          const ValidationReport &report) {
  if (section.all.rows == 0 && report.hasOthers())
    return SectionPlace::hidden;
  return section.tables.empty() ? SectionPlace::apart : SectionPlace::own;
}

Cells autopar::validation::worstHead() {
  return {"row",         "model",        "system",  "runtime",     "at once",
          "measured ms", "predicted ms", "error %", "largest term"};
}

std::vector<Cells>
autopar::validation::worstRows(const ValidationReport &report) {
  std::vector<Cells> rows;
  for (const WorstRow &row : report.worst)
    rows.push_back(
        {row.id, row.model, row.system, row.runtime,
         formatInteger(row.concurrency), print("%.2f", row.measuredMs),
         print("%.2f", row.predictedMs), print("%+.1f", row.error * 100),
         row.suspect.empty()
             ? ""
             : row.suspect + " " + print("%.2f ms", row.suspectMs)});
  return rows;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

std::vector<Cells>
autopar::validation::ruleRows(const ValidationReport &report) {
  std::vector<Cells> rows;
  for (const RuleCount &rule : report.rules)
    rows.push_back({rule.name, count(rule.rows),
                    rule.kind == Rule::Kind::repair    ? "repaired"
                    : rule.kind == Rule::Kind::exclude ? "excluded"
                                                       : "reported apart"});
  return rows;
}

std::vector<std::string>
autopar::validation::countLines(const ValidationReport &report) {
  std::vector<std::string> lines;
  if (report.rows || !report.hasOthers())
    lines.push_back(countOf(report.rows, "row") + ", " +
                    count(report.aggregated) + " aggregated, " +
                    count(report.disaggregated) + " disaggregated, " +
                    count(report.unreadable.size()) + " unreadable; " +
                    count(report.counting) + " count");
  if (report.throughputRows)
    lines.push_back(countOf(report.throughputRows, "row") + " of throughput");
  if (report.memoryRows)
    lines.push_back(countOf(report.memoryRows, "row") + " of memory");
  if (const TrainingCounts &training = report.training; training.rows)
    lines.push_back(countOf(training.rows, "row") + " of training; " +
                    count(training.dense) + " of dense models and " +
                    count(training.moe) + " of models with experts count, " +
                    countOf(training.peaks, "peak") + " of memory; " +
                    count(training.apart) + " reported apart, " +
                    count(training.excluded) + " excluded");
  if (report.otherRows)
    lines.push_back(countOf(report.otherRows, "row") +
                    " of what is not modelled yet");
  return lines;
}

std::vector<std::string>
autopar::validation::noiseLines(const ValidationReport &report) {
  std::vector<std::string> lines;
  for (const auto &[what, noise] :
       {std::pair("one version", report.sameVersion),
        std::pair("any version", report.anyVersion)})
    lines.push_back(std::string(what) + ": " +
                    (noise.pairs
                         ? countOf(noise.pairs, "pair") + " of " +
                               countOf(noise.configurations, "configuration") +
                               " differ by " + percent(noise.median) +
                               " % (median), " + percent(noise.p90) + " % (p90)"
                         : std::string("no repeats")));
  return lines;
}

std::vector<std::string>
autopar::validation::orderLines(const ValidationReport &report) {
  std::vector<std::string> lines;
  for (const PlanOrder &order : report.planOrders) {
    std::string line = order.kind + ": of " + countOf(order.pairs, "pair") +
                       " more than 10 % apart, " + count(order.predicted) +
                       " predicted";
    if (order.predicted)
      line += ", " + percent(double(order.right) / double(order.predicted)) +
              " % in the right order";
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string
autopar::validation::saturationLine(const ValidationReport &report) {
  const SaturationFigures &figures = report.saturation;
  if (!figures.rows)
    return "";
  size_t agree = figures.rows - figures.onlyMeasured - figures.onlyPredicted;
  return "of " + countOf(figures.rows, "row") + ", " + count(agree) +
         " agree (" + count(figures.both) + " queue), " +
         count(figures.onlyMeasured) + " queue and are predicted not to, " +
         count(figures.onlyPredicted) + " the other way round";
}
