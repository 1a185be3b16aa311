//===- Simulate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Orders.h"
#include "ScheduleChecks.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr std::pair<ScheduleKind, std::string_view> kindNames[] = {
    {ScheduleKind::gpipe, "gpipe"},
    {ScheduleKind::one_f_one_b, "one_f_one_b"},
    {ScheduleKind::interleaved, "interleaved"},
    {ScheduleKind::zero_bubble, "zero_bubble"},
    {ScheduleKind::dual_pipe, "dual_pipe"},
    {ScheduleKind::inference, "inference"},
};

std::string_view autopar::nameOf(ScheduleKind kind) {
  for (auto [known, name] : kindNames)
    if (known == kind)
      return name;
  return "";
}

std::string autopar::scheduleChoices() {
  std::vector<std::string> names;
  for (auto [kind, name] : kindNames)
    names.emplace_back(name);
  return join(names, ", ");
}

std::optional<ScheduleKind> autopar::parseScheduleKind(std::string_view text) {
  if (text == "1f1b")
    return ScheduleKind::one_f_one_b;
  for (auto [kind, name] : kindNames)
    if (name == text)
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

namespace {

/// Gives the ordered tasks of a timeline their times. A device runs until what
/// its next task needs is not known, and again after a neighbour ran.
class Simulator {
public:
  Simulator(const PipelineSchedule &schedule, PipelineTimeline &timeline)
      : schedule(schedule), timeline(timeline), p(schedule.stages),
        last(schedule.stages * schedule.interleave - 1),
        perRound(int64_t(schedule.work.size()) > last + 1),
        row(schedule.microbatches * schedule.rounds + rowGap),
        ends((last + 1) * row, unknown), devices(p), queue(p) {}

  /// The first device that waits for ever, none where all is done.
  std::optional<int64_t> run();

private:
  static constexpr Picoseconds unknown = -1;
  struct Device {
    ScheduledTask *next = nullptr, *end = nullptr;
    Picoseconds freePs = 0, busyPs = 0;
    bool isQueued = false;
  };

  void enqueue(int64_t device);
  bool advance(Device &device);
  bool start(Device &device);
  bool startPair(Device &device);
  Picoseconds arrivalOf(const ScheduledTask &task) const;
  Picoseconds forwardArrival(int64_t stage, int64_t unit) const;
  Picoseconds gradientArrival(int64_t stage, int64_t unit) const;
  Picoseconds arrive(Picoseconds sent, int64_t stage, int64_t unit) const;
  Picoseconds forwardEnd(int64_t stage, int64_t unit) const {
    // Half of what is unknown is, too.
    return ends[stage * row + unit] >> 1;
  }
  Picoseconds gradientEnd(int64_t stage, int64_t unit) const {
    Picoseconds end = ends[stage * row + unit];
    return end & 1 ? end >> 1 : unknown;
  }
  Picoseconds durationOf(const ScheduledTask &task) const;
  Picoseconds pairDuration(const ScheduledTask *pair) const;
  void occupy(Device &device, Picoseconds arrival, Picoseconds duration,
              size_t count);

  const StageWork &workOf(int64_t stage, int64_t unit) const {
    int64_t round = perRound ? unit / schedule.microbatches : 0;
    return schedule.work[round * (last + 1) + stage];
  }

  const PipelineSchedule &schedule;
  PipelineTimeline &timeline;
  int64_t p, last;
  bool perRound;
  /// Rows that are a power of two apart would fall on one set of the cache.
  static constexpr int64_t rowGap = 8;
  int64_t row;
  /// By stage and then microbatch: when its forward is done, doubled; once it
  /// is known when its input gradient is done, that, doubled, plus 1: whoever
  /// waited for the forward has started by then.
  std::vector<Picoseconds> ends;
  std::vector<Device> devices;
  /// A ring: no device is in it twice.
  std::vector<int64_t> queue;
  size_t queueHead = 0, queued = 0;
};

} // namespace

/// When what `stage` sent at `sent` is there.
inline Picoseconds Simulator::arrive(Picoseconds sent, int64_t stage,
                                     int64_t unit) const {
  if (sent == unknown || p == 1)
    return sent;
  return sent + workOf(stage, unit).transferPs;
}

inline Picoseconds Simulator::forwardArrival(int64_t stage,
                                             int64_t unit) const {
  if (stage > 0)
    return arrive(forwardEnd(stage - 1, unit), stage - 1, unit);
  int64_t before = unit - schedule.microbatches;
  if (!schedule.loop || before < 0)
    return 0;
  return arrive(forwardEnd(last, before), last, before);
}

inline Picoseconds Simulator::gradientArrival(int64_t stage,
                                              int64_t unit) const {
  if (stage == last)
    return forwardEnd(last, unit);
  return arrive(gradientEnd(stage + 1, unit), stage, unit);
}

inline Picoseconds Simulator::arrivalOf(const ScheduledTask &task) const {
  switch (task.kind) {
  case TaskKind::forward:
    return forwardArrival(task.stage, task.microbatch);
  case TaskKind::backward:
  case TaskKind::input_gradient:
    return gradientArrival(task.stage, task.microbatch);
  case TaskKind::weight_gradient:
    return gradientEnd(task.stage, task.microbatch);
  }
  return unknown;
}

inline Picoseconds Simulator::durationOf(const ScheduledTask &task) const {
  const StageWork &work = workOf(task.stage, task.microbatch);
  switch (task.kind) {
  case TaskKind::forward:
    return work.forwardPs;
  case TaskKind::backward:
    return work.backwardPs();
  case TaskKind::input_gradient:
    return work.inputGradientPs;
  case TaskKind::weight_gradient:
    return work.weightGradientPs;
  }
  return 0;
}

Picoseconds Simulator::pairDuration(const ScheduledTask *pair) const {
  const StageWork &forward = workOf(pair[0].stage, pair[0].microbatch);
  const StageWork &backward = workOf(pair[1].stage, pair[1].microbatch);
  Picoseconds communication =
      forward.forwardCommunicationPs + backward.backwardCommunicationPs;
  Picoseconds all = forward.forwardPs + backward.backwardPs();
  return std::max(communication, all - communication);
}

/// Gives the next `count` tasks of `device` their time.
inline void Simulator::occupy(Device &device, Picoseconds arrival,
                              Picoseconds duration, size_t count) {
  Picoseconds begin = std::max(device.freePs, arrival), end = begin + duration;
  device.freePs = end;
  device.busyPs += duration;
  for (ScheduledTask *all = device.next + count; device.next != all;
       ++device.next) {
    ScheduledTask &task = *device.next;
    task.startPs = begin;
    task.endPs = end;
    if (task.kind != TaskKind::weight_gradient)
      ends[task.stage * row + task.microbatch] =
          2 * end + (task.kind != TaskKind::forward);
  }
}

/// Runs the next two tasks, which overlap, if all is known.
bool Simulator::startPair(Device &device) {
  Picoseconds first = arrivalOf(device.next[0]);
  Picoseconds second = arrivalOf(device.next[1]);
  if (first == unknown || second == unknown)
    return false;
  occupy(device, std::max(first, second), pairDuration(device.next), 2);
  return true;
}

/// Runs the next task, and the one that overlaps it, if all is known.
inline bool Simulator::start(Device &device) {
  if (device.next->overlapsNext)
    return startPair(device);
  Picoseconds arrival = arrivalOf(*device.next);
  if (arrival == unknown)
    return false;
  occupy(device, arrival, durationOf(*device.next), 1);
  return true;
}

bool Simulator::advance(Device &device) {
  const ScheduledTask *before = device.next;
  while (device.next < device.end && start(device))
    continue;
  return device.next > before;
}

void Simulator::enqueue(int64_t device) {
  if (devices[device].isQueued || devices[device].next == devices[device].end)
    return;
  devices[device].isQueued = true;
  queue[(queueHead + queued++) % p] = device;
}

std::optional<int64_t> Simulator::run() {
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
    // All transfers are between neighbours on the ring of devices.
    enqueue((device + 1) % p);
    enqueue((device + p - 1) % p);
  }
  for (int64_t d = 0; d < p; ++d) {
    if (devices[d].next < devices[d].end)
      return d;
    timeline.devices[d].busyPs = devices[d].busyPs;
    timeline.makespanPs = std::max(timeline.makespanPs, devices[d].freePs);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Whether what the forward saved is free after `task`.
static bool isLast(const ScheduledTask &task, bool isInference) {
  return isInference || task.kind == TaskKind::backward ||
         task.kind == TaskKind::weight_gradient;
}

/// What is in flight on a device follows from its order alone.
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
autopar::simulateSchedule(const PipelineSchedule &schedule) {
  if (auto error = checkSchedule(schedule))
    return *error;
  PipelineTimeline timeline;
  timeline.kind = schedule.kind;
  timeline.microbatches = schedule.microbatches;
  orderTasks(schedule, timeline);
  if (auto stuck = Simulator(schedule, timeline).run())
    return Error{"",
                 "schedule " + std::string(nameOf(schedule.kind)) +
                     ": device " + formatInteger(*stuck) + " waits for ever",
                 "this is an error in autopar: please report the numbers of "
                 "stages and microbatches"};
  addResults(schedule, timeline);
  return timeline;
}

std::vector<Picoseconds> autopar::endsOf(const PipelineTimeline &timeline) {
  std::vector<Picoseconds> ends;
  for (const DeviceTimeline &device : timeline.devices)
    ends.push_back(timeline.tasks[device.endTask - 1].endPs);
  return ends;
}

std::vector<InFlight> autopar::inFlightOf(const PipelineTimeline &timeline,
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

std::vector<int64_t> autopar::keptAtPeak(const PipelineTimeline &timeline,
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
