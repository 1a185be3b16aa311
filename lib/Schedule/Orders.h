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

/// Makes the tasks of a checked schedule, without times, one device after the
/// other.
void orderTasks(const PipelineSchedule &schedule, PipelineTimeline &timeline);

/// Returns the number of forwards by which a device is ahead of its backwards,
/// if it has as many forwards; for GPipe the number is larger than that of all
/// forwards. Must not be called for DualPipe.
int64_t leadOf(const PipelineSchedule &schedule, int64_t device);
/// Returns the number of forwards before the device begins to alternate
/// forwards and backwards.
int64_t aheadOf(const PipelineSchedule &schedule, int64_t device);

/// Returns an upper bound of the number of tasks that `orderTasks` makes, for
/// checked degrees.
int64_t countTasks(const PipelineSchedule &schedule);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_ORDERS_H
