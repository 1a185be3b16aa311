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

/// Time in picoseconds. Times of pipelines are integers, so that sums do not
/// depend on their order, comparisons are the same everywhere, and a bound can
/// be met exactly.
using Picoseconds = int64_t;

/// Converts us to the nearest integer number of ps. Fails for NaN, negative
/// times, and times above `limits::maxStageTimePs`.
Result<Picoseconds> toPicoseconds(double microseconds);
double toMicroseconds(Picoseconds time);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_TIME_H
