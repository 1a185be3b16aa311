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
  /// Gradients of the input and of the weights.
  backward,
  input_gradient,
  weight_gradient,
};

struct ScheduledTask {
  Picoseconds startPs = 0, endPs = 0;
  /// For inference: round * microbatches + microbatch.
  uint32_t microbatch = 0;
  /// The virtual stage.
  uint16_t stage = 0;
  TaskKind kind = TaskKind::forward;
  /// Whether it runs as one with the next task; both then have the times of the
  /// pair.
  bool overlapsNext = false;
};

struct DeviceTimeline {
  /// Its tasks, in order: `tasks[firstTask]` up to, but without,
  /// `tasks[endTask]`.
  size_t firstTask = 0, endTask = 0;
  Picoseconds busyPs = 0, idlePs = 0;
  /// Largest number of microbatches, per virtual stage, whose forward has begun
  /// and whose last gradient is not done; for inference, whose forward is not
  /// done.
  int64_t peakInFlight = 0;
  /// Largest number of bytes that they keep, from the beginning of forward
  /// `peakTask`.
  int64_t peakSavedBytes = 0;
  size_t peakTask = 0;
};

struct PipelineTimeline {
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  int64_t microbatches = 1;
  Picoseconds makespanPs = 0;
  /// Idle share of the time of all devices.
  double bubbleFraction = 0;
  std::vector<DeviceTimeline> devices;
  /// Device by device.
  std::vector<ScheduledTask> tasks;
  /// For inference: the time at which the last microbatch of each round is
  /// done.
  std::vector<Picoseconds> roundEndPs;
};

/// Runs every device's tasks in the order of the schedule, each as soon as the
/// device is free and its inputs have arrived. A deadlock is an error; no
/// schedule has one. Fails on schedules that do not exist for these numbers.
Result<PipelineTimeline> simulateSchedule(const PipelineSchedule &schedule);

/// The end of the last task of each device.
std::vector<Picoseconds> endsOf(const PipelineTimeline &timeline);
/// The end of each device for a legal `one_f_one_b`: exactly the times of
/// `simulateSchedule`, computed without tasks.
std::vector<Picoseconds> gradientEnds(const PipelineSchedule &schedule);

/// Returns the error of a schedule's numbers, with numbers that work.
std::optional<Error> checkSchedule(const PipelineSchedule &schedule);
/// Whether microbatches are as many as the schedule takes at once, or times as
/// many.
bool hasOrder(const PipelineSchedule &schedule);
/// The same results as `simulateSchedule` for 1F1B, interleaved or not, GPipe
/// and ZB-H1, computed without a list of tasks, for schedules that pass
/// `checkSchedule`. By device: its end, and the most bytes that it keeps, which
/// do not depend on times.
std::vector<Picoseconds> trainingEnds(const PipelineSchedule &schedule);
std::vector<int64_t> peakSavedBytes(const PipelineSchedule &schedule);

struct InFlight {
  Picoseconds timePs = 0;
  /// The count from this time on.
  int64_t count = 0;
};
/// Microbatches in flight on `device` over time, counted as in `peakInFlight`.
std::vector<InFlight> inFlightOf(const PipelineTimeline &timeline,
                                 int64_t device);

/// By virtual stage, the microbatches whose values `device` keeps at its peak
/// of bytes.
std::vector<int64_t> keptAtPeak(const PipelineTimeline &timeline,
                                int64_t device);

/// Writes the timeline in Chrome's trace format, for Perfetto and
/// chrome://tracing: a process per device, a slice per task, times in us, and
/// the microbatches in flight as a counter.
std::string writeTrace(const PipelineTimeline &timeline);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_TIMELINE_H
