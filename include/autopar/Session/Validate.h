//===- Validate.h - Predictions beside measurements -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_VALIDATE_H
#define AUTOPAR_SESSION_VALIDATE_H

#include "autopar/Support/Progress.h"
#include "autopar/Support/Table.h"
#include "autopar/Validation/MemoryRows.h"
#include "autopar/Validation/ThroughputRows.h"
#include "autopar/Validation/ValidationReport.h"

#include <string>
#include <vector>

namespace autopar::session {

/// The inputs of `autopar validate`.
struct ValidateRequest {
  std::vector<std::string> files;
  /// Tables that were read already.
  std::vector<DataTable> tables = {};
  /// Path of a file of `autopar.columns/1`, and path of a file of
  /// `autopar.rules/1` or "none".
  std::string columns, rules;
  /// Path of a directory with models that are not bundled, each in a directory
  /// `org--name`.
  std::string configs;
  std::vector<std::string> overrides;
};

/// The measurements with their predictions, and the prediction errors.
struct Validation {
  std::vector<validation::PredictedRow> served;
  std::vector<validation::ThroughputRow> throughput;
  std::vector<validation::MemoryRow> memory;
  std::vector<validation::TrainedRow> trained;
  validation::ValidationReport report;
};

/// Predicts the measurements in the tables of `request`. Errors: a file that
/// cannot be read, an unknown figure, or `progress` stopped the prediction.
Result<Validation> validate(const ValidateRequest &request,
                            const Progress &progress = nullptr);

/// The flags of `autopar validate`, output included.
struct ValidateOptions : ValidateRequest {
  /// File for the predictions of all rows; "" for none.
  std::string predictions;
  /// Format of the report, "text", "json" or "html", and the file to write it
  /// to; "" is standard output.
  std::string format = "text", output;
  bool printRules = false;
};

/// Runs the command. Returns the report of the errors, or the rules; "" if it
/// was written to `output`. Shows progress.
Result<std::string> runValidation(const ValidateOptions &options);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_VALIDATE_H
