//===- ValidationText.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Columns.h"

#include "autopar/Support/Text.h"
#include "autopar/Validation/ValidationReport.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;

static std::string print(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string percent(double share) { return print("%.1f", share * 100); }

static std::string count(size_t number) {
  return formatInteger(int64_t(number));
}

static std::vector<std::string> cellsOf(const std::string &key,
                                        const ErrorFigures &figures) {
  std::vector<std::string> cells = {key, count(figures.rows), count(figures.n)};
  if (figures.n)
    cells.insert(cells.end(),
                 {percent(figures.mape), percent(figures.median),
                  percent(figures.p90), print("%+.1f", figures.bias * 100),
                  percent(figures.within10), percent(figures.within20),
                  percent(figures.within30)});
  return cells;
}

static AlignedColumns errorColumns() {
  AlignedColumns columns("lrrrrrrrrr");
  columns.add({"", "rows", "predicted", "MAPE %", "median %", "p90 %", "bias %",
               "in 10 %", "in 20 %", "in 30 %"});
  return columns;
}

static std::string headText(const ValidationReport &report) {
  std::string text = join(report.files, ", ") + ": ";
  if (report.rows || !report.hasOthers())
    text += countOf(report.rows, "row") + ", " + count(report.aggregated) +
            " aggregated, " + count(report.disaggregated) + " disaggregated, " +
            count(report.unreadable.size()) + " unreadable; " +
            count(report.counting) + " count\n";
  if (report.throughputRows)
    text += countOf(report.throughputRows, "row") + " of throughput\n";
  if (report.memoryRows)
    text += countOf(report.memoryRows, "row") + " of memory\n";
  if (report.otherRows)
    text += countOf(report.otherRows, "row") + " of what is not modelled yet\n";
  constexpr size_t shown = 10;
  for (size_t i = 0; i < std::min(shown, report.unreadable.size()); ++i)
    text += "  ! " + report.unreadable[i].str() + "\n";
  if (report.unreadable.size() > shown)
    text += "  ! and " + count(report.unreadable.size() - shown) + " more\n";
  return text;
}

static std::string rulesText(const ValidationReport &report) {
  if (report.rules.empty())
    return "\nNo rules: every row counts\n";
  AlignedColumns columns("lrl");
  for (const RuleCount &rule : report.rules)
    columns.add({rule.name, count(rule.rows),
                 rule.kind == Rule::Kind::repair    ? "repaired"
                 : rule.kind == Rule::Kind::exclude ? "excluded"
                                                    : "reported apart"});
  return "\nRules\n" + columns.str();
}

static std::string notPredictedText(const ValidationReport &report) {
  if (report.notPredicted.empty())
    return "";
  std::string text = "\nNot predicted\n";
  constexpr size_t shown = 20;
  const auto &reasons = report.notPredicted;
  for (size_t i = 0; i < std::min(shown, reasons.size()); ++i)
    text += "  " + countOf(reasons[i].second, "row") + ": " + reasons[i].first +
            "\n";
  if (reasons.size() > shown)
    text +=
        "  and for " + countOf(reasons.size() - shown, "reason") + " more\n";
  return text;
}

static std::string sectionText(const ErrorSection &section) {
  AlignedColumns columns = errorColumns();
  columns.add(cellsOf("all", section.all));
  for (const ErrorTable &table : section.tables) {
    if (table.groups.empty())
      continue;
    columns.add({"by " + table.by});
    for (const ErrorTable::Group &group : table.groups)
      columns.add(cellsOf("  " + group.key, group.figures));
  }
  return "\n" + section.title + "\n" + columns.str();
}

static std::string sectionsText(const ValidationReport &report) {
  std::string text;
  AlignedColumns apart = errorColumns();
  bool anyApart = false;
  for (const ErrorSection &section : report.sections) {
    if (section.all.rows == 0 && report.hasOthers())
      continue;
    if (!section.tables.empty()) {
      text += sectionText(section);
      continue;
    }
    apart.add(cellsOf(section.title, section.all));
    anyApart = true;
  }
  return anyApart ? text + "\nReported apart\n" + apart.str() : text;
}

static std::string saturationText(const ValidationReport &report) {
  const SaturationFigures &figures = report.saturation;
  if (!figures.rows)
    return "";
  size_t agree = figures.rows - figures.onlyMeasured - figures.onlyPredicted;
  return "\nQueues: of " + countOf(figures.rows, "row") + ", " + count(agree) +
         " agree (" + count(figures.both) + " queue), " +
         count(figures.onlyMeasured) + " queue and are predicted not to, " +
         count(figures.onlyPredicted) + " the other way round\n";
}

static std::string worstText(const ValidationReport &report) {
  if (report.worst.empty())
    return "";
  AlignedColumns columns("llllrrrrl");
  columns.add({"row", "model", "system", "runtime", "at once", "measured ms",
               "predicted ms", "error %", "largest term"});
  for (const WorstRow &row : report.worst)
    columns.add({row.id, row.model, row.system, row.runtime,
                 formatInteger(row.concurrency), print("%.2f", row.measuredMs),
                 print("%.2f", row.predictedMs),
                 print("%+.1f", row.error * 100),
                 row.suspect.empty()
                     ? ""
                     : row.suspect + " " + print("%.2f ms", row.suspectMs)});
  return "\nWorst rows\n" + columns.str();
}

static std::string noiseText(const ValidationReport &report) {
  std::string text;
  for (const auto &[what, noise] :
       {std::pair("one version", report.sameVersion),
        std::pair("any version", report.anyVersion)})
    text += std::string("  ") + what + ": " +
            (noise.pairs ? countOf(noise.pairs, "pair") + " of " +
                               countOf(noise.configurations, "configuration") +
                               " differ by " + percent(noise.median) +
                               " % (median), " + percent(noise.p90) + " % (p90)"
                         : std::string("no repeats")) +
            "\n";
  return "\nRepeats of one configuration\n" + text;
}

std::string autopar::validationText(const ValidationReport &report) {
  bool hasServed = report.rows || !report.hasOthers();
  return headText(report) + (hasServed ? rulesText(report) : "") +
         notPredictedText(report) + sectionsText(report) +
         saturationText(report) + worstText(report) +
         (hasServed ? noiseText(report) : "");
}
