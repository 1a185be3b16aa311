//===- ValidationReport.h - The report of validate --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_VALIDATIONREPORT_H
#define AUTOPAR_VALIDATION_VALIDATIONREPORT_H

#include "autopar/Validation/Errors.h"
#include "autopar/Validation/Rules.h"
#include "autopar/Validation/TrainingSections.h"

#include <utility>

namespace autopar::validation {

struct ServingPrediction {
  double tpotMs = 0, ttftMs = 0, outputTokensPerSecond = 0;
  /// Whether requests queue, and how many run.
  bool saturated = false;
  double running = 0;
  /// Parts of a step, for the largest suspect: "all_reduce" -> ms.
  std::vector<std::pair<std::string, double>> termsMs;
};

/// A row, the outcome of the rules, and its prediction.
struct PredictedRow {
  ServingRow row;
  RowJudgement judgement;
  std::optional<RowCapacity> capacity;
  std::optional<ServingPrediction> prediction;
  /// Why there is no prediction: `no model is called "x"`.
  std::string notPredicted;
  /// The names that it was resolved to, for tables; the row's own words if "".
  std::string model, system, runtime, format;
  /// Whether it has routed experts, where the model is known.
  std::optional<bool> isMoe = std::nullopt;
};

/// A row that is far off, and the largest part of what was predicted.
struct WorstRow {
  std::string id, model, system, runtime;
  int64_t concurrency = 0;
  double measuredMs = 0, predictedMs = 0, error = 0;
  std::string suspect;
  double suspectMs = 0;
};

struct SaturationFigures {
  size_t rows = 0, both = 0, onlyMeasured = 0, onlyPredicted = 0;
};

struct ValidationReport {
  std::vector<std::string> files;
  size_t rows = 0, aggregated = 0, disaggregated = 0, counting = 0;
  std::vector<Error> unreadable;
  std::vector<RuleCount> rules;
  /// Why rows have no prediction, and how many.
  std::vector<std::pair<std::string, size_t>> notPredicted;
  /// Errors of TPOT and TTFT, with tables; rows that are reported separately,
  /// without.
  std::vector<ErrorSection> sections;
  /// Rows of throughput, of memory, and of figures that are not modelled.
  size_t throughputRows = 0, memoryRows = 0, otherRows = 0;
  TrainingCounts training;
  /// Assumptions about rows of training, with the number of rows.
  std::vector<std::pair<std::string, size_t>> assumed;
  std::vector<PlanOrder> planOrders;

  /// Counts a row that has no prediction.
  void addNotPredicted(const std::string &why);
  /// Whether there are rows of anything but requests that are served.
  bool hasOthers() const {
    return throughputRows || memoryRows || otherRows || training.rows;
  }
  SaturationFigures saturation;
  std::vector<WorstRow> worst;
  /// Repeats of one version, and of any.
  NoiseFloor sameVersion, anyVersion;
};

/// Counts and compares; lists `worstRows` of the rows that are far off.
ValidationReport makeValidationReport(std::vector<std::string> files,
                                      const std::vector<PredictedRow> &rows,
                                      std::vector<Error> unreadable,
                                      const RuleSet &rules,
                                      size_t worstRows = 10);

/// Adds rows of training: counts, rules, errors, the order of plans.
void addTraining(ValidationReport &report, const std::vector<TrainedRow> &rows,
                 const RuleSet &rules);

/// Writes the report for a terminal.
std::string validationText(const ValidationReport &report);
/// `autopar.validation/1`: lib/Validation/schema/validation.schema.json.
std::string validationJson(const ValidationReport &report);
/// Writes a page for browsers: tables, and charts of measured against predicted
/// figures. Errors: files of pages that are not installed.
Result<std::string> validationHtml(const ValidationReport &report);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_VALIDATIONREPORT_H
