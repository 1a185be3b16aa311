//===- SweepParts.h - What writers of sweeps share --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SWEEP_SWEEPPARTS_H
#define AUTOPAR_LIB_SWEEP_SWEEPPARTS_H

#include "autopar/Sweep/Sweep.h"

namespace autopar::sweep {

/// The axis called `name` that varies; null where there is none.
const SweepAxis *varyingAxis(const SweepReport &report, std::string_view name);

/// "memory_bandwidth" of a path, where no other axis ends so.
std::string shortName(const SweepReport &report, const SweepAxis &axis);

/// "context 4,096, h200-sxm-8": the values of the axes that vary, without that
/// of `left`.
std::string nameOf(const SweepReport &report, const SweepRow &row,
                   const SweepAxis *left = nullptr);

/// Whether any row is of a service.
bool hasRequests(const SweepReport &report);

/// The model, and what is the same in all rows.
std::string headText(const SweepReport &report);

} // namespace autopar::sweep

#endif // AUTOPAR_LIB_SWEEP_SWEEPPARTS_H
