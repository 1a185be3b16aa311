//===- Orders.h - Task orders of schedules ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_ORDERS_H
#define AUTOPAR_LIB_SCHEDULE_ORDERS_H

#include "autopar/Schedule/Timeline.h"

namespace autopar::schedule {

/// Makes the tasks of a checked schedule, without times, device by device.
void orderTasks(const PipelineSchedule &schedule, PipelineTimeline &timeline);

/// The number of forwards by which a device is ahead of its backwards, if it
/// has as many; for GPipe it exceeds their number. Not for DualPipe.
int64_t leadOf(const PipelineSchedule &schedule, int64_t device);
/// Number of forwards before the device alternates a forward and a backward.
int64_t aheadOf(const PipelineSchedule &schedule, int64_t device);

/// Upper bound of the tasks of `orderTasks`, for checked degrees.
int64_t countTasks(const PipelineSchedule &schedule);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_ORDERS_H
