//===- Orders.h - What each device does, in order ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_ORDERS_H
#define AUTOPAR_LIB_SCHEDULE_ORDERS_H

#include "autopar/Schedule/Timeline.h"

namespace autopar::schedule {

/// The tasks of a checked schedule, without times, device by device.
void orderTasks(const PipelineSchedule &schedule, PipelineTimeline &timeline);

/// How many forwards a device of a schedule with backwards is ahead of its
/// backwards, where there are as many; those of GPipe are more than there are.
/// Not of DualPipe.
int64_t leadOf(const PipelineSchedule &schedule, int64_t device);
/// Forwards that it does before it does a forward and a backward in turn.
int64_t aheadOf(const PipelineSchedule &schedule, int64_t device);

/// How many tasks `orderTasks` makes at most, for checked degrees.
int64_t countTasks(const PipelineSchedule &schedule);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_ORDERS_H
