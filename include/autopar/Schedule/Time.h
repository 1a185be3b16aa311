//===- Time.h - Exact times of a pipeline -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SCHEDULE_TIME_H
#define AUTOPAR_SCHEDULE_TIME_H

#include "autopar/Support/Result.h"

#include <cstdint>

namespace autopar::schedule {

/// Times of pipelines are whole picoseconds: sums do not depend on their
/// order, two plans compare the same everywhere, and a bound that is met is
/// met exactly.
using Picoseconds = int64_t;

/// The nearest picosecond. Fails on what is no number, negative, or above
/// `limits::maxStageTimePs`.
Result<Picoseconds> toPicoseconds(double microseconds);
double toMicroseconds(Picoseconds time);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_TIME_H
