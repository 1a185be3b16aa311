//===- ScheduleChecks.h - Which schedules exist -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_SCHEDULECHECKS_H
#define AUTOPAR_LIB_SCHEDULE_SCHEDULECHECKS_H

#include "autopar/Schedule/Schedule.h"

namespace autopar {

/// What is wrong with the numbers of `schedule`, and what would work.
std::optional<Error> checkSchedule(const PipelineSchedule &schedule);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_SCHEDULECHECKS_H
