//===- Timeline.h - What a schedule takes -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SCHEDULE_TIMELINE_H
#define AUTOPAR_SCHEDULE_TIMELINE_H

#include "autopar/Schedule/Schedule.h"

#include <string>
#include <vector>

namespace autopar::schedule {

enum class TaskKind : uint8_t {
  forward,
  /// Gradients of input and weights.
  backward,
  input_gradient,
  weight_gradient,
};

struct ScheduledTask {
  Picoseconds startPs = 0, endPs = 0;
  /// Of inference: round * microbatches + microbatch.
  uint32_t microbatch = 0;
  /// The virtual stage.
  uint16_t stage = 0;
  TaskKind kind = TaskKind::forward;
  /// Runs as one with the next task: both have the times of the pair.
  bool overlapsNext = false;
};

struct DeviceTimeline {
  /// Its tasks, in order: `tasks[firstTask]` to before `tasks[endTask]`.
  size_t firstTask = 0, endTask = 0;
  Picoseconds busyPs = 0, idlePs = 0;
  /// The most microbatches, per virtual stage, whose forward has begun and
  /// whose last gradient is not done; of inference, whose forward is not.
  int64_t peakInFlight = 0;
  /// The most bytes that they keep, from the beginning of forward `peakTask`.
  int64_t peakSavedBytes = 0;
  size_t peakTask = 0;
};

struct PipelineTimeline {
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  int64_t microbatches = 1;
  Picoseconds makespanPs = 0;
  /// The part of all devices' time in which they are idle.
  double bubbleFraction = 0;
  std::vector<DeviceTimeline> devices;
  /// Device by device.
  std::vector<ScheduledTask> tasks;
  /// Of inference: when the last microbatch of each round is through.
  std::vector<Picoseconds> roundEndPs;
};

/// Runs every device's tasks in the order of the schedule, each as soon as the
/// device is free and what it needs has arrived. The orders cannot wait for
/// each other in a circle; if one did, that is an error. Fails on schedules
/// that do not exist for these numbers.
Result<PipelineTimeline> simulateSchedule(const PipelineSchedule &schedule);

/// When each device is done with its last task.
std::vector<Picoseconds> endsOf(const PipelineTimeline &timeline);
/// When each device of a `one_f_one_b` that may be simulated is done, to the
/// picosecond as `simulateSchedule` has it, but not task by task.
std::vector<Picoseconds> gradientEnds(const PipelineSchedule &schedule);

/// What is wrong with the numbers of a schedule, and what would work.
std::optional<Error> checkSchedule(const PipelineSchedule &schedule);
/// Whether microbatches are as many as the schedule takes at once, or times as
/// many.
bool hasOrder(const PipelineSchedule &schedule);
/// What `simulateSchedule` says of 1F1B, interleaved or not, GPipe and ZB-H1,
/// but not by a list of tasks; of schedules that `checkSchedule` has nothing
/// against. By device: when it is done, and the most bytes that it keeps, which
/// do not depend on times.
std::vector<Picoseconds> trainingEnds(const PipelineSchedule &schedule);
std::vector<int64_t> peakSavedBytes(const PipelineSchedule &schedule);

struct InFlight {
  Picoseconds timePs = 0;
  /// From this time on.
  int64_t count = 0;
};
/// Microbatches in flight on `device` over time, as `peakInFlight` counts.
std::vector<InFlight> inFlightOf(const PipelineTimeline &timeline,
                                 int64_t device);

/// By virtual stage, the microbatches whose values `device` keeps when they are
/// the most bytes.
std::vector<int64_t> keptAtPeak(const PipelineTimeline &timeline,
                                int64_t device);

/// The timeline in Chrome's trace format, as Perfetto and chrome://tracing open
/// it: a process per device, a slice per task, times in microseconds, and the
/// microbatches in flight as a counter.
std::string writeTrace(const PipelineTimeline &timeline);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_TIMELINE_H
