//===- Orders.h - What each device does, in order ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_ORDERS_H
#define AUTOPAR_LIB_SCHEDULE_ORDERS_H

#include "autopar/Schedule/Timeline.h"

namespace autopar {

/// The tasks of a checked schedule, without times, device by device.
void orderTasks(const PipelineSchedule &schedule, PipelineTimeline &timeline);

/// Forwards that a device of a schedule with backwards does before it does a
/// forward and a backward in turn. Not of DualPipe.
int64_t aheadOf(const PipelineSchedule &schedule, int64_t device);

/// How many tasks `orderTasks` makes at most, for checked degrees.
int64_t countTasks(const PipelineSchedule &schedule);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_ORDERS_H
