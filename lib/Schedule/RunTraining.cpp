//===- RunTraining.cpp - Schedules with backwards, without tasks ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device does some forwards ahead, then a forward and a backward in turn,
// then the backwards that are left: 1F1B, interleaved or not, and GPipe, whose
// forwards are all ahead, differ in how many those are. ZB-H1 follows each
// gradient of an input with that of weights of an earlier microbatch.
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Timeline.h"

#include <algorithm>

using namespace autopar;

namespace {

class Runner {
public:
  Runner(const PipelineSchedule &schedule, TrainingTimeline &timeline)
      : schedule(schedule), timeline(timeline), p(schedule.stages),
        v(schedule.interleave), m(schedule.microbatches),
        last(schedule.stages * schedule.interleave - 1),
        // Rows that are a power of two apart would fall on one set of the
        // cache.
        row(m + 8), forwards((last + 1) * row, unknown),
        backwards((last + 1) * row, unknown),
        hasLateWeights(schedule.kind == ScheduleKind::zero_bubble) {}

  void run();

private:
  static constexpr Picoseconds unknown = -1;

  /// What comes next: groups of p microbatches go through all virtual stages of
  /// a device.
  struct Place {
    int64_t done = 0, number = 0, first = 0, offset = 0;

    void advance(int64_t p, int64_t v) {
      ++done;
      if (++offset < p)
        return;
      offset = 0;
      if (++number < v)
        return;
      number = 0;
      first += p;
    }
  };
  struct Device {
    Place forward, backward;
    int64_t ahead = 0;
    Picoseconds freePs = 0;
    int64_t bytes = 0, peakBytes = 0;
  };

  int64_t aheadOf(int64_t device) const;
  bool runForward(int64_t d, Device &device);
  bool runBackward(int64_t d, Device &device);
  bool advance(int64_t d);
  void endBackwards(int64_t d, Device &device) const;
  Picoseconds transferOf(int64_t stage) const {
    return p == 1 ? 0 : schedule.work[stage].transferPs;
  }

  const PipelineSchedule &schedule;
  TrainingTimeline &timeline;
  const int64_t p, v, m, last, row;
  /// By stage and then microbatch, when it is done.
  std::vector<Picoseconds> forwards, backwards;
  const bool hasLateWeights;
  std::vector<Device> devices;
};

} // namespace

int64_t Runner::aheadOf(int64_t device) const {
  if (schedule.kind == ScheduleKind::gpipe)
    return m;
  int64_t behind = p - 1 - device;
  if (schedule.kind == ScheduleKind::interleaved)
    return std::min(2 * behind + (v - 1) * p, m * v);
  return std::min(behind, m);
}

bool Runner::runForward(int64_t d, Device &device) {
  Place &at = device.forward;
  int64_t stage = at.number * p + d, microbatch = at.first + at.offset;
  Picoseconds arrival = 0;
  if (stage > 0) {
    arrival = forwards[(stage - 1) * row + microbatch];
    if (arrival == unknown)
      return false;
    arrival += transferOf(stage - 1);
  }
  const StageWork &work = schedule.work[stage];
  device.freePs = std::max(device.freePs, arrival) + work.forwardPs;
  forwards[stage * row + microbatch] = device.freePs;
  device.bytes += work.savedBytes;
  device.peakBytes = std::max(device.peakBytes, device.bytes);
  at.advance(p, v);
  return true;
}

bool Runner::runBackward(int64_t d, Device &device) {
  Place &at = device.backward;
  int64_t stage = (v - 1 - at.number) * p + d,
          microbatch = at.first + at.offset;
  Picoseconds arrival = stage == last
                            ? forwards[stage * row + microbatch]
                            : backwards[(stage + 1) * row + microbatch];
  if (arrival == unknown)
    return false;
  if (stage < last)
    arrival += transferOf(stage);
  const StageWork &work = schedule.work[stage];
  device.freePs = std::max(device.freePs, arrival) + work.inputGradientPs;
  bool endsWeights = !hasLateWeights || at.done >= d;
  Picoseconds end = device.freePs;
  if (endsWeights) {
    device.freePs += work.weightGradientPs;
    device.bytes -= work.savedBytes;
  }
  backwards[stage * row + microbatch] = hasLateWeights ? end : device.freePs;
  at.advance(p, v);
  return true;
}

/// Gradients of weights that were put off.
void Runner::endBackwards(int64_t d, Device &device) const {
  if (hasLateWeights)
    device.freePs += std::min(d, m) * schedule.work[d].weightGradientPs;
}

/// Runs a device as far as is known; whether it did anything.
bool Runner::advance(int64_t d) {
  Device &device = devices[d];
  int64_t all = m * v, before = device.forward.done + device.backward.done;
  while (device.backward.done < all) {
    bool isForward = device.forward.done < all &&
                     device.forward.done <= device.backward.done + device.ahead;
    if (!(isForward ? runForward(d, device) : runBackward(d, device)))
      break;
  }
  return device.forward.done + device.backward.done > before;
}

/// Forwards come from the device before, gradients from the one behind.
void Runner::run() {
  devices.resize(p);
  for (int64_t d = 0; d < p; ++d)
    devices[d].ahead = aheadOf(d);
  bool moves = true;
  while (moves) {
    moves = false;
    for (int64_t d = 0; d < p; ++d)
      moves |= advance(d);
    for (int64_t d = p - 1; d-- > 0;)
      moves |= advance(d);
  }
  for (int64_t d = 0; d < p; ++d) {
    endBackwards(d, devices[d]);
    timeline.endPs.push_back(devices[d].freePs);
    timeline.peakSavedBytes.push_back(devices[d].peakBytes);
  }
}

void autopar::runTraining(const PipelineSchedule &schedule,
                          TrainingTimeline &timeline) {
  timeline.endPs.clear();
  timeline.peakSavedBytes.clear();
  if (schedule.kind != ScheduleKind::one_f_one_b)
    return Runner(schedule, timeline).run();
  timeline.endPs = gradientEnds(schedule);
  for (int64_t d = 0; d < schedule.stages; ++d)
    timeline.peakSavedBytes.push_back(
        std::min(schedule.stages - d, schedule.microbatches) *
        schedule.work[d].savedBytes);
}
