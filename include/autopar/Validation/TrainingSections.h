//===- TrainingSections.h - Errors of predicted training --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_TRAININGSECTIONS_H
#define AUTOPAR_VALIDATION_TRAININGSECTIONS_H

#include "autopar/Validation/Errors.h"
#include "autopar/Validation/Rules.h"
#include "autopar/Validation/TrainingRow.h"

namespace autopar::validation {

/// A row, the outcome of the rules, and its prediction or the reason why there
/// is none.
struct TrainedRow {
  TrainingRow row;
  RowJudgement judgement;
  std::optional<TrainingPrediction> prediction = std::nullopt;
  std::string notPredicted = {};
  /// The system that it was matched with; the row's own words where "".
  std::string system = {};
  /// The runtime of the prediction; "" if there is none.
  std::string runtime = {};
  /// Choices that the row does not state, with the assumed values.
  std::vector<std::string> assumed = {};
};

/// Rows of tables of training, and those that count: their times, of dense
/// models and of those with experts, and their peaks of memory.
struct TrainingCounts {
  size_t rows = 0, dense = 0, moe = 0, peaks = 0, apart = 0, excluded = 0;
};
TrainingCounts countTraining(const std::vector<TrainedRow> &rows);

/// Errors of iteration times, for dense models and for those with experts, and
/// of memory peaks; without tables, the rows that each rule reports separately.
std::vector<ErrorSection> trainingSections(const std::vector<TrainedRow> &rows,
                                           const RuleSet &rules);

/// Pairs of plans of one model, machine, number of devices, sequence length
/// and format, of which one trains more than 10 % more tokens in a second.
struct PlanOrder {
  /// "dense", "MoE".
  std::string kind;
  /// Number of pairs of rows that count; of pairs with two predictions; and of
  /// pairs that are predicted in the measured order.
  size_t pairs = 0, predicted = 0, right = 0;
};
/// For kinds of models with pairs.
std::vector<PlanOrder> planOrders(const std::vector<TrainedRow> &rows);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAININGSECTIONS_H
