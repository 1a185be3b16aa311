//===- Validate.h - Predictions beside measurements -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_VALIDATE_H
#define AUTOPAR_SESSION_VALIDATE_H

#include "autopar/Support/Progress.h"
#include "autopar/Validation/MemoryRows.h"
#include "autopar/Validation/ThroughputRows.h"
#include "autopar/Validation/ValidationReport.h"

#include <string>
#include <vector>

namespace autopar::session {

/// The inputs of a validation.
struct ValidateRequest {
  std::vector<std::string> files;
  /// A file of autopar.columns/1; a file of autopar.rules/1, or "none".
  std::string columns, rules;
  /// A folder of models that are not bundled, `org--name` each.
  std::string configs;
  std::vector<std::string> overrides;
};

/// Measurements with their predictions, and the errors.
struct Validation {
  std::vector<validation::PredictedRow> served;
  std::vector<validation::ThroughputRow> throughput;
  std::vector<validation::MemoryRow> memory;
  std::vector<validation::TrainedRow> trained;
  validation::ValidationReport report;
};

/// Predicts the measurements of tables. Errors: unreadable files, unknown
/// figures, a stop by `progress`.
Result<Validation> validate(const ValidateRequest &request,
                            const Progress &progress = nullptr);

/// The output of the command.
struct ValidateOptions : ValidateRequest {
  /// File for the predictions of all rows.
  std::string predictions;
  /// "text", "json" or "html", and its file; "" is standard output.
  std::string format = "text", output;
  bool printRules = false;
};

/// Returns the report of the errors, or the rules; empty if it was written to
/// `output`. Shows progress.
Result<std::string> runValidation(const ValidateOptions &options);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_VALIDATE_H
