//===- Simulator.h - Ordered tasks get their times --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_SIMULATOR_H
#define AUTOPAR_LIB_SCHEDULE_SIMULATOR_H

#include "Orders.h"

#include <algorithm>

namespace autopar::schedule {

/// Gives the works of a schedule as times in ps.
class Durations {
public:
  using Time = Picoseconds;

  explicit Durations(const PipelineSchedule &schedule)
      : work(schedule.work.data()) {}
  Time of(int64_t index, Picoseconds StageWork::*part) const {
    return work[index].*part;
  }

private:
  const StageWork *work;
};

// Operations on times that the simulator needs. This one returns a time in ps.
inline Picoseconds inPs(Picoseconds time) { return time; }
/// Returns the doubled time, plus 1 if it is the end of a gradient.
inline Picoseconds packed(Picoseconds end, bool isGradient) {
  return 2 * end + isGradient;
}
inline Picoseconds unpacked(Picoseconds end) {
  // Half of an unknown time is unknown too.
  return end >> 1;
}

/// Sets the times of a timeline's ordered tasks. A device runs until an input
/// of its next task is unknown, and runs again after a neighbour ran.
template <typename Works>
class Simulator {
public:
  using Time = typename Works::Time;

  Simulator(const PipelineSchedule &schedule, PipelineTimeline &timeline,
            Works works)
      : schedule(schedule), timeline(timeline), works(works),
        p(schedule.stages), last(schedule.stages * schedule.interleave - 1),
        perRound(int64_t(schedule.work.size()) > last + 1),
        row(schedule.microbatches * schedule.rounds + rowGap),
        ends((last + 1) * row, Time(unknown)), devices(p), queue(p) {}

  /// Runs all tasks. Returns the first device that waits for ever; nothing if
  /// all tasks are done.
  std::optional<int64_t> run();

  /// `makespan` returns the time at which all tasks are done; `endOfRound` the
  /// time at which the last microbatch of a round is done.
  Time makespan() const;
  Time endOfRound(int64_t round) const {
    return forwardEnd(last, round * schedule.microbatches - 1);
  }

private:
  static constexpr Picoseconds unknown = -1;
  struct Device {
    ScheduledTask *next = nullptr, *end = nullptr;
    Time freePs = Time(0);
    Picoseconds busyPs = 0;
    bool isQueued = false;
  };

  static bool isUnknown(Time time) { return inPs(time) == unknown; }
  void enqueue(int64_t device);
  bool advance(Device &device);
  bool start(Device &device);
  bool startPair(Device &device);
  Time arrivalOf(const ScheduledTask &task) const;
  Time forwardArrival(int64_t stage, int64_t unit) const;
  Time gradientArrival(int64_t stage, int64_t unit) const;
  Time arrive(Time sent, int64_t stage, int64_t unit) const;
  Time forwardEnd(int64_t stage, int64_t unit) const {
    return unpacked(ends[stage * row + unit]);
  }
  Time gradientEnd(int64_t stage, int64_t unit) const {
    Time end = ends[stage * row + unit];
    return inPs(end) & 1 ? unpacked(end) : Time(unknown);
  }
  Time durationOf(const ScheduledTask &task) const;
  Time pairDuration(const ScheduledTask *pair) const;
  void occupy(Device &device, Time arrival, Time duration, size_t count);

  int64_t workOf(int64_t stage, int64_t unit) const {
    return perRound ? unit / schedule.microbatches * (last + 1) + stage : stage;
  }
  Time backwardOf(int64_t work) const {
    return works.of(work, &StageWork::inputGradientPs) +
           works.of(work, &StageWork::weightGradientPs);
  }

  const PipelineSchedule &schedule;
  PipelineTimeline &timeline;
  Works works;
  int64_t p, last;
  bool perRound;
  /// Rows get this gap, so that they are not a power of two apart, where they
  /// would share a set of the cache.
  static constexpr int64_t rowGap = 8;
  int64_t row;
  /// Packed times by stage and then microbatch: first the end of the forward;
  /// once every task that waits for the forward has started, the end of the
  /// input gradient.
  std::vector<Time> ends;
  std::vector<Device> devices;
  /// The devices to run as a ring buffer; no device is in it twice.
  std::vector<int64_t> queue;
  size_t queueHead = 0, queued = 0;
};

/// Returns when a message arrives that `stage` sent at `sent`.
template <typename Works>
inline auto Simulator<Works>::arrive(Time sent, int64_t stage,
                                     int64_t unit) const -> Time {
  if (isUnknown(sent) || p == 1)
    return sent;
  return sent + works.of(workOf(stage, unit), &StageWork::transferPs);
}

template <typename Works>
inline auto Simulator<Works>::forwardArrival(int64_t stage, int64_t unit) const
    -> Time {
  if (stage > 0)
    return arrive(forwardEnd(stage - 1, unit), stage - 1, unit);
  int64_t before = unit - schedule.microbatches;
  if (!schedule.loop || before < 0)
    return Time(0);
  return arrive(forwardEnd(last, before), last, before);
}

template <typename Works>
inline auto Simulator<Works>::gradientArrival(int64_t stage, int64_t unit) const
    -> Time {
  if (stage == last)
    return forwardEnd(last, unit);
  return arrive(gradientEnd(stage + 1, unit), stage, unit);
}

template <typename Works>
inline auto Simulator<Works>::arrivalOf(const ScheduledTask &task) const
    -> Time {
  switch (task.kind) {
  case TaskKind::forward:
    return forwardArrival(task.stage, task.microbatch);
  case TaskKind::backward:
  case TaskKind::input_gradient:
    return gradientArrival(task.stage, task.microbatch);
  case TaskKind::weight_gradient:
    return gradientEnd(task.stage, task.microbatch);
  }
  return Time(unknown);
}

template <typename Works>
inline auto Simulator<Works>::durationOf(const ScheduledTask &task) const
    -> Time {
  int64_t work = workOf(task.stage, task.microbatch);
  switch (task.kind) {
  case TaskKind::forward:
    return works.of(work, &StageWork::forwardPs);
  case TaskKind::backward:
    return backwardOf(work);
  case TaskKind::input_gradient:
    return works.of(work, &StageWork::inputGradientPs);
  case TaskKind::weight_gradient:
    return works.of(work, &StageWork::weightGradientPs);
  }
  return Time(0);
}

template <typename Works>
auto Simulator<Works>::pairDuration(const ScheduledTask *pair) const -> Time {
  int64_t forward = workOf(pair[0].stage, pair[0].microbatch);
  int64_t backward = workOf(pair[1].stage, pair[1].microbatch);
  Time communication = works.of(forward, &StageWork::forwardCommunicationPs) +
                       works.of(backward, &StageWork::backwardCommunicationPs);
  Time all = works.of(forward, &StageWork::forwardPs) + backwardOf(backward);
  return std::max(communication, all - communication);
}

/// Sets the times of the next `count` tasks of `device`, which run together.
template <typename Works>
inline void Simulator<Works>::occupy(Device &device, Time arrival,
                                     Time duration, size_t count) {
  Time begin = std::max(device.freePs, arrival), end = begin + duration;
  device.freePs = end;
  device.busyPs += inPs(duration);
  for (ScheduledTask *all = device.next + count; device.next != all;
       ++device.next) {
    ScheduledTask &task = *device.next;
    task.startPs = inPs(begin);
    task.endPs = inPs(end);
    if (task.kind != TaskKind::weight_gradient)
      ends[task.stage * row + task.microbatch] =
          packed(end, task.kind != TaskKind::forward);
  }
}

/// Runs the next two tasks, which overlap, if their inputs are known. Returns
/// whether it did.
template <typename Works>
bool Simulator<Works>::startPair(Device &device) {
  Time first = arrivalOf(device.next[0]);
  Time second = arrivalOf(device.next[1]);
  if (isUnknown(first) || isUnknown(second))
    return false;
  occupy(device, std::max(first, second), pairDuration(device.next), 2);
  return true;
}

/// Runs the next task, and the task that overlaps it, if their inputs are
/// known. Returns whether it did.
template <typename Works>
inline bool Simulator<Works>::start(Device &device) {
  if (device.next->overlapsNext)
    return startPair(device);
  Time arrival = arrivalOf(*device.next);
  if (isUnknown(arrival))
    return false;
  occupy(device, arrival, durationOf(*device.next), 1);
  return true;
}

template <typename Works>
bool Simulator<Works>::advance(Device &device) {
  const ScheduledTask *before = device.next;
  while (device.next < device.end && start(device))
    continue;
  return device.next > before;
}

template <typename Works>
void Simulator<Works>::enqueue(int64_t device) {
  if (devices[device].isQueued || devices[device].next == devices[device].end)
    return;
  devices[device].isQueued = true;
  queue[(queueHead + queued++) % p] = device;
}

template <typename Works>
std::optional<int64_t> Simulator<Works>::run() {
  for (int64_t d = 0; d < p; ++d) {
    ScheduledTask *tasks = timeline.tasks.data();
    devices[d].next = tasks + timeline.devices[d].firstTask;
    devices[d].end = tasks + timeline.devices[d].endTask;
    enqueue(d);
  }
  while (queued > 0) {
    int64_t device = queue[queueHead];
    queueHead = (queueHead + 1) % p;
    --queued;
    devices[device].isQueued = false;
    if (!advance(devices[device]))
      continue;
    // Devices send only to their neighbours on the ring of devices.
    enqueue((device + 1) % p);
    enqueue((device + p - 1) % p);
  }
  for (int64_t d = 0; d < p; ++d) {
    if (devices[d].next < devices[d].end)
      return d;
    timeline.devices[d].busyPs = devices[d].busyPs;
  }
  timeline.makespanPs = inPs(makespan());
  return std::nullopt;
}

template <typename Works>
auto Simulator<Works>::makespan() const -> Time {
  Time latest(0);
  for (const Device &device : devices)
    latest = std::max(latest, device.freePs);
  return latest;
}

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_SIMULATOR_H
