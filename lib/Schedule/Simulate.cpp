//===- Simulate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Names of schedules
//===----------------------------------------------------------------------===//

static constexpr std::pair<ScheduleKind, std::string_view> kindNames[] = {
    {ScheduleKind::gpipe, "gpipe"},
    {ScheduleKind::one_f_one_b, "one_f_one_b"},
    {ScheduleKind::interleaved, "interleaved"},
    {ScheduleKind::zero_bubble, "zero_bubble"},
    {ScheduleKind::dual_pipe, "dual_pipe"},
    {ScheduleKind::inference, "inference"},
};

std::string_view autopar::schedule::nameOf(ScheduleKind kind) {
  for (auto [known, name] : kindNames)
    if (known == kind)
      return name;
  return "";
}

std::string autopar::schedule::scheduleChoices() {
  std::vector<std::string> names;
  for (auto [kind, name] : kindNames)
    names.emplace_back(name);
  return join(names, ", ");
}

std::optional<ScheduleKind>
autopar::schedule::parseScheduleKind(std::string_view text) {
  if (text == "1f1b")
    return ScheduleKind::one_f_one_b;
  for (auto [kind, name] : kindNames)
    if (name == text)
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Results of a simulation
//===----------------------------------------------------------------------===//

/// Returns whether the bytes that the forward saved are free after `task`.
static bool isLast(const ScheduledTask &task, bool isInference) {
  return isInference || task.kind == TaskKind::backward ||
         task.kind == TaskKind::weight_gradient;
}

/// Adds the peaks of a device. The microbatches that are in flight on a device
/// depend only on the order of its tasks.
static void addPeaks(const PipelineSchedule &schedule,
                     PipelineTimeline &timeline, DeviceTimeline &device) {
  bool isInference = schedule.kind == ScheduleKind::inference;
  int64_t count = 0, bytes = 0;
  device.peakTask = device.firstTask;
  for (size_t i = device.firstTask; i < device.endTask; ++i) {
    const ScheduledTask &task = timeline.tasks[i];
    int64_t saved = schedule.work[task.stage].savedBytes;
    if (task.kind == TaskKind::forward) {
      device.peakInFlight = std::max(device.peakInFlight, ++count);
      bytes += saved;
      if (bytes > device.peakSavedBytes) {
        device.peakSavedBytes = bytes;
        device.peakTask = i;
      }
    }
    if (isLast(task, isInference)) {
      --count;
      bytes -= saved;
    }
  }
}

static void addRounds(const PipelineSchedule &schedule,
                      PipelineTimeline &timeline) {
  const DeviceTimeline &device = timeline.devices.back();
  for (int64_t round = 1; round <= schedule.rounds; ++round) {
    size_t task = device.firstTask + round * schedule.microbatches - 1;
    timeline.roundEndPs.push_back(timeline.tasks[task].endPs);
  }
}

static void addResults(const PipelineSchedule &schedule,
                       PipelineTimeline &timeline) {
  double idle = 0;
  for (DeviceTimeline &device : timeline.devices) {
    device.idlePs = timeline.makespanPs - device.busyPs;
    idle += static_cast<double>(device.idlePs);
    addPeaks(schedule, timeline, device);
  }
  double all = static_cast<double>(timeline.makespanPs) *
               static_cast<double>(schedule.stages);
  timeline.bubbleFraction = all > 0 ? idle / all : 0;
  if (schedule.kind == ScheduleKind::inference)
    addRounds(schedule, timeline);
}

Result<PipelineTimeline>
autopar::schedule::simulateSchedule(const PipelineSchedule &schedule) {
  if (auto error = checkSchedule(schedule))
    return *error;
  PipelineTimeline timeline;
  timeline.kind = schedule.kind;
  timeline.microbatches = schedule.microbatches;
  orderTasks(schedule, timeline);
  if (auto stuck =
          Simulator<Durations>(schedule, timeline, Durations(schedule)).run())
    return Error{"",
                 "schedule " + std::string(nameOf(schedule.kind)) +
                     ": device " + formatInteger(*stuck) + " waits for ever",
                 "this is an error in autopar: please report the numbers of "
                 "stages and microbatches"};
  addResults(schedule, timeline);
  return timeline;
}

std::vector<Picoseconds>
autopar::schedule::endsOf(const PipelineTimeline &timeline) {
  std::vector<Picoseconds> ends;
  for (const DeviceTimeline &device : timeline.devices)
    ends.push_back(timeline.tasks[device.endTask - 1].endPs);
  return ends;
}

std::vector<InFlight>
autopar::schedule::inFlightOf(const PipelineTimeline &timeline,
                              int64_t device) {
  bool isInference = timeline.kind == ScheduleKind::inference;
  std::vector<InFlight> curve;
  auto change = [&](Picoseconds time, int64_t by) {
    int64_t count = (curve.empty() ? 0 : curve.back().count) + by;
    if (!curve.empty() && curve.back().timePs == time)
      curve.back().count = count;
    else
      curve.push_back({time, count});
  };
  const DeviceTimeline &range = timeline.devices[device];
  for (size_t i = range.firstTask; i < range.endTask; ++i) {
    const ScheduledTask &task = timeline.tasks[i];
    if (task.kind == TaskKind::forward)
      change(task.startPs, 1);
    if (isLast(task, isInference))
      change(task.endPs, -1);
  }
  return curve;
}

std::vector<int64_t>
autopar::schedule::keptAtPeak(const PipelineTimeline &timeline,
                              int64_t device) {
  bool isInference = timeline.kind == ScheduleKind::inference;
  std::vector<int64_t> kept;
  const DeviceTimeline &range = timeline.devices[device];
  for (size_t i = range.firstTask; i <= range.peakTask; ++i) {
    const ScheduledTask &task = timeline.tasks[i];
    kept.resize(std::max<size_t>(kept.size(), task.stage + 1));
    if (task.kind == TaskKind::forward)
      ++kept[task.stage];
    if (isLast(task, isInference) && i < range.peakTask)
      --kept[task.stage];
  }
  return kept;
}
