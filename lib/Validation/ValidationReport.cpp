//===- ValidationReport.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/ValidationReport.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::validation;
using Rows = std::vector<const PredictedRow *>;

static GroupKey named(const std::string &matched, const std::string &own) {
  const std::string &name = matched.empty() ? own : matched;
  return {name.empty() ? "not stated" : name, 0};
}

static MeasuredPoint pointOf(const PredictedRow &row,
                             std::optional<double> measured,
                             double ServingPrediction::*predicted) {
  MeasuredPoint point{*measured};
  if (row.prediction)
    point.predicted = *row.prediction.*predicted;
  point.id = row.row.id;
  point.model = named(row.model, row.row.model).text;
  return point;
}

static MeasuredPoint tpotOf(const PredictedRow &row) {
  return pointOf(row, row.row.tpotMs, &ServingPrediction::tpotMs);
}

static MeasuredPoint ttftOf(const PredictedRow &row) {
  return pointOf(row, row.row.ttftMs, &ServingPrediction::ttftMs);
}

/// Tables of `points`, which belong to `rows`.
static std::vector<ErrorTable>
tablesOf(const Rows &rows, const std::vector<MeasuredPoint> &points) {
  using KeyOf = GroupKey (*)(const PredictedRow &);
  const std::pair<const char *, KeyOf> keys[] = {
      {"kind",
       [](const PredictedRow &row) {
         if (!row.isMoe)
           return GroupKey{"not known", 1};
         return GroupKey{*row.isMoe ? "MoE" : "dense", 0};
       }},
      {"model",
       [](const PredictedRow &row) { return named(row.model, row.row.model); }},
      {"system",
       [](const PredictedRow &row) {
         return named(row.system, row.row.system);
       }},
      {"runtime",
       [](const PredictedRow &row) {
         return named(row.runtime, row.row.runtime);
       }},
      {"format",
       [](const PredictedRow &row) {
         return named(row.format, row.row.precision);
       }},
      {"length",
       [](const PredictedRow &row) {
         return lengthBucket(row.row.inputTokens, row.row.outputTokens);
       }},
      {"concurrency",
       [](const PredictedRow &row) {
         return concurrencyBucket(row.row.concurrency);
       }},
  };
  std::vector<ErrorTable> tables;
  for (const auto &[by, keyOf] : keys)
    tables.push_back(errorTable(
        by, points, [&, of = keyOf](size_t i) { return of(*rows[i]); }));
  return tables;
}

static ErrorSection sectionOf(std::string name, std::string title,
                              const Rows &rows,
                              MeasuredPoint (*pointOf)(const PredictedRow &),
                              bool withTables) {
  std::vector<MeasuredPoint> points;
  for (const PredictedRow *row : rows)
    points.push_back(pointOf(*row));
  ErrorSection section(std::move(name), std::move(title), "ms",
                       std::move(points));
  if (withTables)
    section.tables = tablesOf(rows, section.points);
  return section;
}

template <typename Condition>
static Rows rowsThat(const std::vector<PredictedRow> &rows,
                     Condition condition) {
  Rows found;
  for (const PredictedRow &row : rows)
    if (condition(row))
      found.push_back(&row);
  return found;
}

/// Whether the TPOT of an aggregated row is compared in the main tables.
static bool inMainTables(const PredictedRow &row) {
  return row.row.tpotMs && !row.row.decode && row.judgement.counts() &&
         !row.judgement.ambiguous;
}

static void addSections(ValidationReport &report,
                        const std::vector<PredictedRow> &rows,
                        const RuleSet &rules) {
  auto add = [&](const char *name, std::string title, const Rows &found,
                 MeasuredPoint (*pointOf)(const PredictedRow &), bool isMain) {
    if (isMain || !found.empty())
      report.sections.push_back(
          sectionOf(name, std::move(title), found, pointOf, isMain));
  };
  add("tpot", "TPOT, aggregated rows that count", rowsThat(rows, inMainTables),
      tpotOf, true);
  add("ttft", "TTFT, of those with long answers and no queue",
      rowsThat(rows,
               [&](const PredictedRow &row) {
                 return inMainTables(row) && ttftCounts(row.row, rules);
               }),
      ttftOf, true);
  add("tpot_disaggregated", "TPOT, disaggregated",
      rowsThat(rows,
               [](const PredictedRow &row) {
                 return row.row.tpotMs && row.row.decode &&
                        row.judgement.counts();
               }),
      tpotOf, false);
  add("tpot_ambiguous", "TPOT, apart: degrees guessed",
      rowsThat(rows,
               [](const PredictedRow &row) {
                 return row.row.tpotMs && row.judgement.counts() &&
                        row.judgement.ambiguous;
               }),
      tpotOf, false);
  add("tpot_apart", "TPOT, apart: engines known to be off",
      rowsThat(rows,
               [](const PredictedRow &row) {
                 return row.row.tpotMs && row.judgement.apart;
               }),
      tpotOf, false);
}

static SaturationFigures saturationOf(const std::vector<PredictedRow> &rows,
                                      const RuleSet &rules) {
  SaturationFigures figures;
  for (const PredictedRow &row : rows) {
    if (!inMainTables(row) || !row.prediction || !row.capacity ||
        !saturationCounts(row.row, *row.capacity, rules))
      continue;
    bool measured = isSaturated(*row.row.ttftMs, *row.row.tpotMs,
                                row.row.outputTokens, rules);
    bool predicted = row.prediction->saturated;
    ++figures.rows;
    figures.both += measured && predicted;
    figures.onlyMeasured += measured && !predicted;
    figures.onlyPredicted += predicted && !measured;
  }
  return figures;
}

static WorstRow describe(const PredictedRow &row) {
  WorstRow worst;
  worst.id = row.row.id;
  worst.model = named(row.model, row.row.model).text;
  worst.system = named(row.system, row.row.system).text;
  worst.runtime = named(row.runtime, row.row.runtime).text;
  worst.concurrency = row.row.concurrency;
  worst.measuredMs = *row.row.tpotMs;
  worst.predictedMs = row.prediction->tpotMs;
  worst.error = *signedError(tpotOf(row));
  for (const auto &[term, ms] : row.prediction->termsMs)
    if (ms > worst.suspectMs) {
      worst.suspect = term;
      worst.suspectMs = ms;
    }
  return worst;
}

static std::vector<WorstRow> worstOf(const std::vector<PredictedRow> &rows,
                                     size_t most) {
  std::vector<std::pair<double, size_t>> errors;
  for (size_t i = 0; i < rows.size(); ++i)
    if (inMainTables(rows[i]))
      if (std::optional<double> error = signedError(tpotOf(rows[i])))
        errors.emplace_back(-std::abs(*error), i);
  std::sort(errors.begin(), errors.end());
  errors.resize(std::min(errors.size(), most));
  std::vector<WorstRow> worst;
  for (const auto &[error, row] : errors)
    worst.push_back(describe(rows[row]));
  return worst;
}

using TextCounts = std::vector<std::pair<std::string, size_t>>;

static void countText(const std::string &text, TextCounts &counts) {
  auto known =
      std::find_if(counts.begin(), counts.end(),
                   [&](const auto &entry) { return entry.first == text; });
  if (known == counts.end())
    counts.emplace_back(text, 1);
  else
    ++known->second;
}

static void sortByCount(TextCounts &counts) {
  std::sort(counts.begin(), counts.end(), [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
}

void ValidationReport::addNotPredicted(const std::string &why) {
  countText(why.empty() ? "not modelled" : why, notPredicted);
}

/// Counts reasons, the most frequent first.
static void addNotPredicted(const std::vector<PredictedRow> &rows,
                            ValidationReport &report) {
  for (const PredictedRow &row : rows)
    if (!row.prediction)
      report.addNotPredicted(row.notPredicted);
  sortByCount(report.notPredicted);
}

ValidationReport autopar::validation::makeValidationReport(
    std::vector<std::string> files, const std::vector<PredictedRow> &rows,
    std::vector<Error> unreadable, const RuleSet &rules, size_t worstRows) {
  ValidationReport report;
  report.files = std::move(files);
  report.unreadable = std::move(unreadable);
  report.rows = rows.size() + report.unreadable.size();
  std::vector<ServingRow> served;
  std::vector<RowJudgement> judgements;
  for (const PredictedRow &row : rows) {
    ++(row.row.decode ? report.disaggregated : report.aggregated);
    report.counting += row.judgement.counts();
    served.push_back(row.row);
    judgements.push_back(row.judgement);
  }
  report.rules = countByRule(judgements, rules);
  addNotPredicted(rows, report);
  addSections(report, rows, rules);
  report.saturation = saturationOf(rows, rules);
  report.worst = worstOf(rows, worstRows);
  report.sameVersion = noiseFloor(served, judgements, true);
  report.anyVersion = noiseFloor(served, judgements, false);
  return report;
}

void autopar::validation::addTraining(ValidationReport &report,
                                      const std::vector<TrainedRow> &rows,
                                      const RuleSet &rules) {
  if (rows.empty())
    return;
  report.training = countTraining(rows);
  std::vector<RowJudgement> judgements;
  for (const TrainedRow &row : rows) {
    judgements.push_back(row.judgement);
    if (!row.prediction)
      report.addNotPredicted(row.notPredicted);
    for (const std::string &assumption : row.assumed)
      countText(assumption, report.assumed);
  }
  sortByCount(report.assumed);
  // Rules that judged no row get no table.
  if (report.rows == 0)
    report.rules.clear();
  for (RuleCount &count : countByRule(judgements, rules, Rule::Rows::trained))
    report.rules.push_back(std::move(count));
  for (ErrorSection &section : trainingSections(rows, rules))
    report.sections.push_back(std::move(section));
  report.planOrders = autopar::validation::planOrders(rows);
}
