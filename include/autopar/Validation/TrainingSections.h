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

/// A row, what the rules made of it, and what was predicted, or why nothing.
struct TrainedRow {
  TrainingRow row;
  RowJudgement judgement;
  std::optional<TrainingPrediction> prediction = std::nullopt;
  std::string notPredicted = {};
  /// The system that it was matched with; the row's own words where "".
  std::string system = {};
  /// That it was predicted by; "" where it was not.
  std::string runtime = {};
  /// What the row does not state, and what was taken.
  std::vector<std::string> assumed = {};
};

/// Rows of tables of training, and those that count: their times, of dense
/// models and of those with experts, and their peaks of memory.
struct TrainingCounts {
  size_t rows = 0, dense = 0, moe = 0, peaks = 0, apart = 0, excluded = 0;
};
TrainingCounts countTraining(const std::vector<TrainedRow> &rows);

/// Times of iterations of dense models and of those with experts, peaks of
/// memory; without tables, what each rule reports apart.
std::vector<ErrorSection> trainingSections(const std::vector<TrainedRow> &rows,
                                           const RuleSet &rules);

/// Pairs of plans of one model, machine, number of devices, sequence length
/// and format, of which one trains more than 10 % more tokens in a second.
struct PlanOrder {
  /// "dense", "MoE".
  std::string kind;
  /// Of rows that count; those of which both are predicted; and those that are
  /// predicted in the order in which they were measured.
  size_t pairs = 0, predicted = 0, right = 0;
};
/// Of kinds that have pairs.
std::vector<PlanOrder> planOrders(const std::vector<TrainedRow> &rows);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAININGSECTIONS_H
