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

/// What is validated.
struct ValidateRequest {
  std::vector<std::string> files;
  /// A file of autopar.columns/1; one of autopar.rules/1, or "none".
  std::string columns, rules;
  /// A folder of models that are not bundled, `org--name` each.
  std::string configs;
  std::vector<std::string> overrides;
};

/// Measurements, what was predicted of each, and the errors.
struct Validation {
  std::vector<validation::PredictedRow> served;
  std::vector<validation::ThroughputRow> throughput;
  std::vector<validation::MemoryRow> memory;
  std::vector<validation::TrainedRow> trained;
  validation::ValidationReport report;
};

/// Predicts what tables of measurements hold. Errors: files that cannot be
/// read, figures that do not exist, and a `progress` that said no.
Result<Validation> validate(const ValidateRequest &request,
                            const Progress &progress = nullptr);

/// How the command line writes it.
struct ValidateOptions : ValidateRequest {
  /// Where predictions of all rows go.
  std::string predictions;
  /// "text", "json" or "html", and where it goes: standard output where "".
  std::string format = "text", output;
  bool printRules = false;
};

/// The report of the errors, or the rules; empty where `output` has it. Shows
/// progress.
Result<std::string> runValidation(const ValidateOptions &options);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_VALIDATE_H
