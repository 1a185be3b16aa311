//===- Parameters.h - Figures that a calibration fits -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CALIBRATE_PARAMETERS_H
#define AUTOPAR_CALIBRATE_PARAMETERS_H

#include "autopar/Calibrate/Fit.h"

#include <set>

namespace autopar::calibration {

/// Returns the parameters of runtimes/calibration/parameters.json that the
/// machines and runtimes with these names have. `owners` are "runtimes.vllm",
/// "systems.h100-sxm-8"; the chip of a system is added. A figure that a variant
/// of its runtime replaces, or whose value is 0, is left out: a factor on one
/// value would not be one on all.
Result<std::vector<Parameter>>
parametersOf(const std::set<std::string> &owners);

} // namespace autopar::calibration

#endif // AUTOPAR_CALIBRATE_PARAMETERS_H
