//===- RunTraining.cpp - Schedules with backwards, without tasks ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device runs some forwards ahead, then alternates a forward and a backward,
// then runs the remaining backwards. 1F1B, interleaved or not, and GPipe, whose
// forwards are all ahead, differ in the number of forwards ahead. ZB-H1 follows
// each input gradient by a weight gradient of an earlier microbatch.
//
// A turn is backward i of a device and the forward before it. Turn i of device
// d runs in wave i - d: all that it waits for is in earlier waves, or on
// earlier devices of the same wave.
//
//===----------------------------------------------------------------------===//

#include "Orders.h"

#include <algorithm>
#include <memory>

using namespace autopar;
using namespace autopar::schedule;

namespace {

class Runner {
public:
  explicit Runner(const PipelineSchedule &schedule)
      : schedule(schedule), p(schedule.stages), v(schedule.interleave),
        all(schedule.microbatches * v),
        // Rows are not a power of two apart, because then they would share a
        // set of the cache.
        row(schedule.microbatches + 8),
        ends(new Picoseconds[(2 * p * v + 1) * row]),
        hasLateWeights(schedule.kind == ScheduleKind::zero_bubble), devices(p) {
    addTasks();
  }

  std::vector<Picoseconds> run();

private:
  /// The forwards or the backwards of a virtual stage. By microbatch: when the
  /// input is sent (`sent`) and when the task ends (`ends`). For each task: the
  /// time of the transfer, of the work, and of work that no other task waits
  /// for, in ps.
  struct Tasks {
    const Picoseconds *sent = nullptr;
    Picoseconds *ends = nullptr;
    Picoseconds transferPs = 0, timePs = 0, laterPs = 0;
  };
  /// The position of a device in its forwards or in its backwards. Groups of p
  /// microbatches go through all virtual stages of the device.
  struct Pass {
    const Tasks *tasks = nullptr;
    int64_t number = 0, microbatch = 0, offset = 0, done = 0;
  };
  struct Device {
    Pass forward, backward;
    int64_t lead = 0;
    /// The number of backwards whose weight gradients are delayed.
    int64_t late = 0;
    Picoseconds freePs = 0;
  };

  void addTasks();
  void enterNext(Pass &pass, int64_t away);
  void step(Device &device, Pass &pass, int64_t away);
  void runWave(int64_t wave);

  const PipelineSchedule &schedule;
  const int64_t p, v, all, row;
  /// The ends of all tasks. Every entry is written before it is read.
  std::unique_ptr<Picoseconds[]> ends;
  const bool hasLateWeights;
  /// The forwards and the backwards of each virtual stage.
  std::vector<Tasks> forwards, backwards;
  std::vector<Device> devices;
};

} // namespace

/// Adds the tasks of all virtual stages. The first forwards wait for nothing.
void Runner::addTasks() {
  Picoseconds *next = ends.get();
  std::fill_n(next, row, 0);
  Tasks before{nullptr, next};
  for (const StageWork &work : schedule.work) {
    forwards.push_back(
        {before.ends, next += row, before.transferPs, work.forwardPs});
    before = forwards.back();
    before.transferPs = p > 1 ? work.transferPs : 0;
  }
  backwards.resize(forwards.size());
  before.transferPs = 0;
  for (size_t stage = backwards.size(); stage-- > 0;) {
    const StageWork &work = schedule.work[stage];
    Tasks &tasks = backwards[stage];
    tasks = {before.ends, next += row, before.transferPs, work.inputGradientPs};
    (hasLateWeights ? tasks.laterPs : tasks.timePs) += work.weightGradientPs;
    before = tasks;
    before.transferPs =
        p > 1 && stage > 0 ? schedule.work[stage - 1].transferPs : 0;
  }
}

/// Moves a pass on to the tasks that are `away` further: to the next virtual
/// stage of the device, or to its first one with the next group of
/// microbatches.
inline void Runner::enterNext(Pass &pass, int64_t away) {
  pass.offset = 0;
  if (++pass.number < v) {
    pass.microbatch -= p;
    pass.tasks += away;
  } else {
    pass.number = 0;
    pass.tasks -= (v - 1) * away;
  }
}

inline void Runner::step(Device &device, Pass &pass, int64_t away) {
  const Tasks &tasks = *pass.tasks;
  Picoseconds arrival = tasks.sent[pass.microbatch] + tasks.transferPs;
  device.freePs = std::max(device.freePs, arrival) + tasks.timePs;
  tasks.ends[pass.microbatch] = device.freePs;
  if (pass.done++ >= device.late)
    device.freePs += tasks.laterPs;
  ++pass.microbatch;
  if (++pass.offset == p)
    enterNext(pass, away);
}

void Runner::runWave(int64_t wave) {
  for (int64_t d = 0; d < p; ++d) {
    Device &device = devices[d];
    int64_t backward = wave + d, forward = backward + device.lead;
    if (forward >= 0 && forward < all)
      step(device, device.forward, p);
    if (backward >= 0 && backward < all)
      step(device, device.backward, -p);
  }
}

std::vector<Picoseconds> Runner::run() {
  for (int64_t d = 0; d < p; ++d) {
    devices[d].forward.tasks = &forwards[d];
    devices[d].backward.tasks = &backwards[(v - 1) * p + d];
    devices[d].lead = leadOf(schedule, d);
    devices[d].late = hasLateWeights ? d : 0;
  }
  for (int64_t wave = -devices[0].lead; wave < all; ++wave)
    runWave(wave);
  std::vector<Picoseconds> done;
  for (int64_t d = 0; d < p; ++d) {
    // The weight gradients that were delayed run at the end.
    Picoseconds late = std::min(devices[d].late, all) * backwards[d].laterPs;
    done.push_back(devices[d].freePs + late);
  }
  return done;
}

std::vector<Picoseconds>
autopar::schedule::trainingEnds(const PipelineSchedule &schedule) {
  return schedule.kind == ScheduleKind::one_f_one_b ? gradientEnds(schedule)
                                                    : Runner(schedule).run();
}
