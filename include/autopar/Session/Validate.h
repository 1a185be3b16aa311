//===- Validate.h - Predictions beside measurements -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_VALIDATE_H
#define AUTOPAR_SESSION_VALIDATE_H

#include "autopar/Support/Result.h"

#include <string>
#include <vector>

namespace autopar {

/// What is validated, and how.
struct ValidateOptions {
  std::vector<std::string> files;
  /// A file of autopar.columns/1; one of autopar.rules/1, or "none".
  std::string columns, rules;
  /// A folder of models that are not bundled, `org--name` each.
  std::string configs;
  std::vector<std::string> overrides;
  /// Where predictions of all rows go.
  std::string predictions;
  /// "text", "json" or "html", and where it goes: standard output where "".
  std::string format = "text", output;
  bool printRules = false;
};

/// Predicts what tables of measurements hold; the report of the errors, empty
/// where `output` has it. Shows progress.
Result<std::string> validate(const ValidateOptions &options);

} // namespace autopar

#endif // AUTOPAR_SESSION_VALIDATE_H
