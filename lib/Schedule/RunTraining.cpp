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

#include "Orders.h"

#include <algorithm>

using namespace autopar;

namespace {

class Runner {
public:
  explicit Runner(const PipelineSchedule &schedule)
      : schedule(schedule), p(schedule.stages), v(schedule.interleave),
        m(schedule.microbatches),
        last(schedule.stages * schedule.interleave - 1),
        // Rows that are a power of two apart would fall on one set of the
        // cache.
        row(m + 8), forwards((last + 1) * row, unknown),
        backwards((last + 1) * row, unknown),
        hasLateWeights(schedule.kind == ScheduleKind::zero_bubble) {}

  std::vector<Picoseconds> run();

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
  };

  bool runForward(int64_t d, Device &device);
  bool runBackward(int64_t d, Device &device);
  bool advance(int64_t d);
  void endBackwards(int64_t d, Device &device) const;
  Picoseconds transferOf(int64_t stage) const {
    return p == 1 ? 0 : schedule.work[stage].transferPs;
  }

  const PipelineSchedule &schedule;
  const int64_t p, v, m, last, row;
  /// By stage and then microbatch, when it is done.
  std::vector<Picoseconds> forwards, backwards;
  const bool hasLateWeights;
  std::vector<Device> devices;
};

} // namespace

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
  Picoseconds end = device.freePs;
  if (!hasLateWeights || at.done >= d)
    device.freePs += work.weightGradientPs;
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
std::vector<Picoseconds> Runner::run() {
  devices.resize(p);
  for (int64_t d = 0; d < p; ++d)
    devices[d].ahead = aheadOf(schedule, d);
  bool moves = true;
  while (moves) {
    moves = false;
    for (int64_t d = 0; d < p; ++d)
      moves |= advance(d);
    for (int64_t d = p - 1; d-- > 0;)
      moves |= advance(d);
  }
  std::vector<Picoseconds> ends;
  for (int64_t d = 0; d < p; ++d) {
    endBackwards(d, devices[d]);
    ends.push_back(devices[d].freePs);
  }
  return ends;
}

std::vector<Picoseconds>
autopar::trainingEnds(const PipelineSchedule &schedule) {
  return schedule.kind == ScheduleKind::one_f_one_b ? gradientEnds(schedule)
                                                    : Runner(schedule).run();
}
