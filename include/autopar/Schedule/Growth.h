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

/// How fast the times of a schedule grow.
struct Growth {
  Picoseconds makespan = 0;
  /// For inference, the growth of the end of each round.
  std::vector<Picoseconds> roundEnds = {};
};

/// Returns the growth of a schedule's times if the tasks of stage i grow by
/// `growth[i]`: the growth of the critical path. Of several longest paths, the
/// fastest growing one counts. The schedule must be valid.
Growth growthOf(const PipelineSchedule &schedule,
                const std::vector<StageWork> &growth);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_GROWTH_H
