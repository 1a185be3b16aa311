//===- Calibrate.h - Figures from a user's measurements ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_CALIBRATE_H
#define AUTOPAR_SESSION_CALIBRATE_H

#include "autopar/Calibrate/Fit.h"
#include "autopar/Calibrate/Measurements.h"

#include <string>
#include <vector>

namespace autopar::session {

/// The inputs of `autopar calibrate`.
struct CalibrateRequest {
  /// Result files of benchmarks, and tables of `autopar validate`.
  std::vector<std::string> files;
  /// Facts that the files lack: model, hardware, engine, tp, ...
  calibration::StatedFacts stated;
  /// As in `ValidateRequest`.
  std::string configs;
  std::vector<std::string> overrides;
};

/// What was read, and the parameters that were fitted to it.
struct Calibration {
  std::vector<std::string> files;
  std::vector<calibration::MeasuredFile> read;
  std::vector<calibration::Parameter> parameters;
  /// Names of the quantities of `fit`: "tpot", "ttft", ...
  std::vector<std::string> quantities;
  /// Number of points in all quantities.
  size_t points = 0;
  /// The fit; its parameters are empty if nothing that was read is predicted.
  calibration::Fit fit;
};

/// Fits the parameters of the machines and runtimes in the measurements.
/// Predictions are those of `validate`, for the rows that count by its rules.
/// Errors: files that cannot be read, facts that are not stated.
Result<Calibration> calibrate(const CalibrateRequest &request);

/// Writes a calibration as `autopar.calibration/1`, and for people.
std::string calibrationJson(const Calibration &calibration);
std::string calibrationText(const Calibration &calibration);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_CALIBRATE_H
