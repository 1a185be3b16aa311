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

/// Growth rates of the times of a schedule.
struct Growth {
  Picoseconds makespan = 0;
  /// For inference, by round.
  std::vector<Picoseconds> roundEnds = {};
};

/// The growth of a schedule whose works each grow by their entry of `growth`:
/// the growth of the critical path. Of several longest paths the fastest
/// growing one counts. The schedule must be legal.
Growth growthOf(const PipelineSchedule &schedule,
                const std::vector<StageWork> &growth);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_GROWTH_H
