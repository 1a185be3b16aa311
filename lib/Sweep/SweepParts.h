//===- SweepParts.h - Shared parts of the writers of sweeps -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SWEEP_SWEEPPARTS_H
#define AUTOPAR_LIB_SWEEP_SWEEPPARTS_H

#include "autopar/Sweep/Sweep.h"

namespace autopar::sweep {

/// Returns the varying axis called `name`; null if there is none.
const SweepAxis *varyingAxis(const SweepReport &report, std::string_view name);

/// Returns the last part of an axis' path, "memory_bandwidth", if it is unique
/// among the axes; else the whole path.
std::string shortName(const SweepReport &report, const SweepAxis &axis);

/// Returns the values of the varying axes, without that of `left`: "context
/// 4,096, h200-sxm-8".
std::string nameOf(const SweepReport &report, const SweepRow &row,
                   const SweepAxis *left = nullptr);

/// Returns whether any row is about a service.
bool hasRequests(const SweepReport &report);

/// Returns the model, and the values that all rows have in common.
std::string headText(const SweepReport &report);

} // namespace autopar::sweep

#endif // AUTOPAR_LIB_SWEEP_SWEEPPARTS_H
