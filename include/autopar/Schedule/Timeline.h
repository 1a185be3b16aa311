//===- Timeline.h - The times of a schedule ---------------------*- C++ -*-===//
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
  /// `backward` computes gradients of the input and of the weights; the other
  /// two kinds are its halves.
  backward,
  input_gradient,
  weight_gradient,
};

struct ScheduledTask {
  Picoseconds startPs = 0, endPs = 0;
  /// Number of the microbatch; for inference, round * microbatches +
  /// microbatch.
  uint32_t microbatch = 0;
  /// The number of the virtual stage that runs the task.
  uint16_t stage = 0;
  TaskKind kind = TaskKind::forward;
  /// Whether the task runs as one with the next task; both then have the start
  /// and end of the pair.
  bool overlapsNext = false;
};

struct DeviceTimeline {
  /// The tasks of the device, in order: `tasks[firstTask]` up to, but without,
  /// `tasks[endTask]`.
  size_t firstTask = 0, endTask = 0;
  Picoseconds busyPs = 0, idlePs = 0;
  /// Largest number of microbatches, counted per virtual stage, whose forward
  /// has begun and whose last gradient is not done; for inference, whose
  /// forward is not done.
  int64_t peakInFlight = 0;
  /// Largest number of bytes that microbatches in flight keep; it is reached
  /// when the forward `peakTask` begins.
  int64_t peakSavedBytes = 0;
  size_t peakTask = 0;
};

struct PipelineTimeline {
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  int64_t microbatches = 1;
  Picoseconds makespanPs = 0;
  /// Share of all devices' time that is idle.
  double bubbleFraction = 0;
  std::vector<DeviceTimeline> devices;
  /// The tasks of all devices, device by device.
  std::vector<ScheduledTask> tasks;
  /// For inference: the time at which the last microbatch of each round is
  /// done.
  std::vector<Picoseconds> roundEndPs;
};

/// Executes every device's tasks in the order of the schedule, each as soon as
/// the device is free and the task's inputs have arrived. Fails for schedules
/// that do not exist for these numbers. A deadlock would be an error; no
/// schedule has one.
Result<PipelineTimeline> simulateSchedule(const PipelineSchedule &schedule);

/// Returns the end of the last task of each device.
std::vector<Picoseconds> endsOf(const PipelineTimeline &timeline);
/// Returns the end of the last task of each device for a valid `one_f_one_b`:
/// exactly the times of `simulateSchedule`, computed without a list of tasks.
std::vector<Picoseconds> gradientEnds(const PipelineSchedule &schedule);

/// Returns the error of a schedule with invalid numbers, with numbers that
/// would work; nothing if they are valid.
std::optional<Error> checkSchedule(const PipelineSchedule &schedule);
/// Whether the number of microbatches is a multiple of what the schedule
/// processes at once.
bool hasOrder(const PipelineSchedule &schedule);
/// Return the same results as `simulateSchedule` for 1F1B (interleaved or not),
/// GPipe and ZB-H1, computed without a list of tasks, for schedules that pass
/// `checkSchedule`. `trainingEnds`: the end of each device. `peakSavedBytes`:
/// the most bytes that each device keeps, which do not depend on times.
std::vector<Picoseconds> trainingEnds(const PipelineSchedule &schedule);
std::vector<int64_t> peakSavedBytes(const PipelineSchedule &schedule);

struct InFlight {
  Picoseconds timePs = 0;
  /// Number of microbatches in flight from `timePs` on.
  int64_t count = 0;
};
/// Returns the number of microbatches in flight on `device` over time, counted
/// as in `peakInFlight`.
std::vector<InFlight> inFlightOf(const PipelineTimeline &timeline,
                                 int64_t device);

/// Returns, for each virtual stage, the number of microbatches whose saved
/// values `device` keeps when its saved bytes are largest.
std::vector<int64_t> keptAtPeak(const PipelineTimeline &timeline,
                                int64_t device);

/// Writes the timeline in Chrome's trace format, for Perfetto and
/// chrome://tracing: a process per device, a slice per task, times in us, and
/// the microbatches in flight as a counter.
std::string writeTrace(const PipelineTimeline &timeline);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_TIMELINE_H
