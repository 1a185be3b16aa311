//===- Growth.h - Schedules whose works grow --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SCHEDULE_GROWTH_H
#define AUTOPAR_SCHEDULE_GROWTH_H

#include "autopar/Schedule/Timeline.h"

namespace autopar::schedule {

/// How fast what a schedule takes grows.
struct Growth {
  Picoseconds makespan = 0;
  /// Of inference, by round.
  std::vector<Picoseconds> roundEnds = {};
};

/// Of a schedule that can be simulated, the growth where its works begin to
/// grow, each by its own of `growth`: that of the works on the critical path.
/// Where several are as long, the one that grows fastest is critical.
Growth growthOf(const PipelineSchedule &schedule,
                const std::vector<StageWork> &growth);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_GROWTH_H
