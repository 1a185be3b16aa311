//===- TrainingSections.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/TrainingSections.h"

#include "TrainingKeys.h"

#include "autopar/Validation/TrainedPlan.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::validation;
using Rows = std::vector<const TrainedRow *>;

TrainingCounts
autopar::validation::countTraining(const std::vector<TrainedRow> &rows) {
  TrainingCounts counts;
  counts.rows = rows.size();
  for (const TrainedRow &row : rows) {
    if (!row.judgement.counts()) {
      ++(row.judgement.apart ? counts.apart : counts.excluded);
      continue;
    }
    counts.peaks += row.row.peakGiB.has_value();
    if (row.row.iterationSeconds)
      ++(row.row.isMoe() ? counts.moe : counts.dense);
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

template <typename Condition>
static Rows rowsThat(const std::vector<TrainedRow> &rows, Condition condition) {
  Rows found;
  for (const TrainedRow &row : rows)
    if (condition(row))
      found.push_back(&row);
  return found;
}

static std::string formatOf(const TrainedRow &row) {
  std::optional<TrainingFormat> format = trainingFormatOf(row.row.precision);
  return format ? nameOf(*format) : row.row.precision;
}

static std::vector<ErrorTable>
tablesOf(const Rows &rows, const std::vector<MeasuredPoint> &points) {
  using TextOf = std::string (*)(const TrainedRow &);
  const std::pair<const char *, TextOf> keys[] = {
      {"model", [](const TrainedRow &row) { return row.row.model; }},
      {"system",
       [](const TrainedRow &row) {
         return row.system.empty() ? row.row.system : row.system;
       }},
      {"format", formatOf},
  };
  std::vector<ErrorTable> tables;
  for (const auto &[by, textOf] : keys)
    tables.push_back(errorTable(by, points, [&, of = textOf](size_t i) {
      return GroupKey{of(*rows[i])};
    }));
  return tables;
}

/// A figure of a row: measured, and of its prediction.
struct Figure {
  std::optional<double> TrainingRow::*measured;
  double TrainingPrediction::*predicted;
  const char *unit;
};
static constexpr Figure timeFigure = {
    &TrainingRow::iterationSeconds, &TrainingPrediction::iterationSeconds, "s"};
static constexpr Figure peakFigure = {&TrainingRow::peakGiB,
                                      &TrainingPrediction::peakGiB, "GiB"};

/// Peaks of memory are all of one kind.
static void addMeasurement(const Rows &rows, ErrorSection &section) {
  section.tables.push_back(
      errorTable("measurement", section.points, [&](size_t i) {
        return GroupKey{nameOf(rows[i]->row.iterationSource)};
      }));
}

static ErrorSection sectionOf(std::string name, std::string title,
                              const Rows &rows, const Figure &figure,
                              bool withTables) {
  std::vector<MeasuredPoint> points;
  for (const TrainedRow *row : rows) {
    MeasuredPoint point{*(row->row.*figure.measured)};
    if (row->prediction)
      point.predicted = *row->prediction.*figure.predicted;
    point.id = row->row.id;
    point.model = row->row.model;
    points.push_back(std::move(point));
  }
  ErrorSection section(std::move(name), std::move(title), figure.unit,
                       std::move(points));
  if (withTables)
    section.tables = tablesOf(rows, section.points);
  if (withTables && figure.measured == timeFigure.measured)
    addMeasurement(rows, section);
  return section;
}

std::vector<ErrorSection>
autopar::validation::trainingSections(const std::vector<TrainedRow> &rows,
                                      const RuleSet &rules) {
  std::vector<ErrorSection> sections;
  auto add = [&](std::string name, std::string title, const Figure &figure,
                 bool withTables, auto condition) {
    Rows chosen = rowsThat(rows, [&](const TrainedRow &row) {
      return row.row.*figure.measured && condition(row);
    });
    if (!chosen.empty())
      sections.push_back(sectionOf(std::move(name), std::move(title), chosen,
                                   figure, withTables));
  };
  for (bool isMoe : {false, true})
    add(isMoe ? "iteration_moe" : "iteration_dense",
        isMoe ? "Iteration time, models with experts"
              : "Iteration time, dense models",
        timeFigure, true, [&](const TrainedRow &row) {
          return row.judgement.counts() && row.row.isMoe() == isMoe;
        });
  add("training_peak", "Peak of memory in training", peakFigure, true,
      [](const TrainedRow &row) { return row.judgement.counts(); });
  for (const Rule &rule : rules.rules)
    if (rule.kind == Rule::Kind::apart && rule.of == Rule::Rows::trained)
      add("iteration_" + rule.name, "Iteration time, apart: " + rule.name,
          timeFigure, false, [&](const TrainedRow &row) {
            return row.judgement.excludedBy == rule.name;
          });
  return sections;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Global batches may differ: tokens of a second tell plans apart.
static double tokensPerSecond(const TrainedRow &row, double seconds) {
  return double(*row.row.globalBatch) * double(*row.row.sequenceTokens) /
         seconds;
}

static void compare(const TrainedRow &a, const TrainedRow &b,
                    PlanOrder &order) {
  constexpr double difference = 0.1;
  double first = tokensPerSecond(a, *a.row.iterationSeconds);
  double second = tokensPerSecond(b, *b.row.iterationSeconds);
  if (std::max(first, second) <= (1 + difference) * std::min(first, second) ||
      planKey(a.row, Microbatches::apart) ==
          planKey(b.row, Microbatches::apart))
    return;
  ++order.pairs;
  if (!a.prediction || !b.prediction)
    return;
  ++order.predicted;
  double foundFirst = tokensPerSecond(a, a.prediction->iterationSeconds);
  double foundSecond = tokensPerSecond(b, b.prediction->iterationSeconds);
  order.right += foundFirst != foundSecond &&
                 (first < second) == (foundFirst < foundSecond);
}

std::vector<PlanOrder>
autopar::validation::planOrders(const std::vector<TrainedRow> &rows) {
  std::map<std::string, Rows> tasks;
  for (const TrainedRow &row : rows)
    if (row.judgement.counts() && row.row.iterationSeconds &&
        row.row.globalBatch && row.row.sequenceTokens)
      tasks[taskKey(row.row)].push_back(&row);
  std::vector<PlanOrder> orders = {{"dense"}, {"MoE"}};
  // Limit of plans per task, all pairs of which are compared; no table has
  // more.
  constexpr size_t maxPlans = 256;
  for (const auto &[key, plans] : tasks)
    for (size_t i = 0; i < std::min(plans.size(), maxPlans); ++i)
      for (size_t j = 0; j < i; ++j)
        compare(*plans[i], *plans[j], orders[plans[i]->row.isMoe()]);
  orders.erase(
      std::remove_if(orders.begin(), orders.end(),
                     [](const PlanOrder &order) { return order.pairs == 0; }),
      orders.end());
  return orders;
}
