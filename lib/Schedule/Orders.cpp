//===- Orders.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Orders.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

namespace {

/// Appends the tasks of all devices, one device after the other.
class Orders {
public:
  Orders(const PipelineSchedule &schedule, std::vector<ScheduledTask> &tasks)
      : schedule(schedule), p(schedule.stages), v(schedule.interleave),
        m(schedule.microbatches), tasks(tasks) {}

  void gpipe(int64_t device);
  void oneFOneB(int64_t device);
  void interleaved(int64_t device);
  void zeroBubble(int64_t device);
  void inference(int64_t device);

private:
  void add(TaskKind kind, int64_t stage, int64_t microbatch) {
    ScheduledTask task;
    task.microbatch = static_cast<uint32_t>(microbatch);
    task.stage = static_cast<uint16_t>(stage);
    task.kind = kind;
    tasks.push_back(task);
  }
  /// The position of an interleaved device in its tasks: chunk `number` of
  /// microbatch `first + offset`.
  struct Chunk {
    int64_t number = 0, first = 0, offset = 0;
  };
  void addChunk(TaskKind kind, int64_t device, Chunk &chunk);

  const PipelineSchedule &schedule;
  int64_t p, v, m;
  std::vector<ScheduledTask> &tasks;
};

/// The two directions of DualPipe as seen from one device: direction 0 enters
/// at the device's half of the devices, direction 1 at the other half. The
/// microbatches of a direction run their forwards, their backwards and their
/// weight gradients in order.
class DualPipe {
public:
  DualPipe(const PipelineSchedule &schedule, int64_t device,
           std::vector<ScheduledTask> &tasks)
      : p(schedule.stages), half(schedule.microbatches / 2), device(device),
        tasks(tasks) {}
  void run();

private:
  void forward(int side) { add(TaskKind::forward, side, forwards[side]++); }
  void backward(int side);
  /// Adds a backward that computes only the gradients of the input; the
  /// gradients of the weights wait until `weights` is called.
  void inputGradient(int side);
  void weights();
  void pair(int forwardSide, int backwardSide);
  void fillEnd(int64_t count);
  void add(TaskKind kind, int side, int64_t index);

  int64_t p, half, device;
  std::vector<ScheduledTask> &tasks;
  int64_t forwards[2] = {}, backwards[2] = {};
  /// The side and the index of the microbatches that wait for their weight
  /// gradients.
  std::vector<std::pair<int, int64_t>> waiting;
  size_t nextWaiting = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Schedules in which microbatches enter at one end
//===----------------------------------------------------------------------===//

void Orders::gpipe(int64_t device) {
  for (int64_t i = 0; i < m; ++i)
    add(TaskKind::forward, device, i);
  for (int64_t i = 0; i < m; ++i)
    add(TaskKind::backward, device, i);
}

void Orders::oneFOneB(int64_t device) {
  int64_t ahead = aheadOf(schedule, device);
  for (int64_t i = 0; i < ahead; ++i)
    add(TaskKind::forward, device, i);
  for (int64_t i = 0; i < m; ++i) {
    if (i + ahead < m)
      add(TaskKind::forward, device, i + ahead);
    add(TaskKind::backward, device, i);
  }
}

/// Adds a task of an interleaved device. Groups of p microbatches go through
/// all virtual stages of the device; backwards begin with the last virtual
/// stage.
void Orders::addChunk(TaskKind kind, int64_t device, Chunk &chunk) {
  bool isForward = kind == TaskKind::forward;
  int64_t number = isForward ? chunk.number : v - 1 - chunk.number;
  add(kind, number * p + device, chunk.first + chunk.offset);
  if (++chunk.offset < p)
    return;
  chunk.offset = 0;
  if (++chunk.number < v)
    return;
  chunk.number = 0;
  chunk.first += p;
}

void Orders::interleaved(int64_t device) {
  int64_t all = m * v, ahead = aheadOf(schedule, device);
  Chunk forward, backward;
  for (int64_t i = 0; i < ahead; ++i)
    addChunk(TaskKind::forward, device, forward);
  for (int64_t i = 0; i < all; ++i) {
    if (i + ahead < all)
      addChunk(TaskKind::forward, device, forward);
    addChunk(TaskKind::backward, device, backward);
  }
}

/// Device d delays weight gradients by d microbatches. Together with the p - d
/// microbatches that 1F1B has in flight, this makes p.
void Orders::zeroBubble(int64_t device) {
  int64_t ahead = aheadOf(schedule, device);
  for (int64_t i = 0; i < ahead; ++i)
    add(TaskKind::forward, device, i);
  for (int64_t i = 0; i < m + device; ++i) {
    if (i + ahead < m)
      add(TaskKind::forward, device, i + ahead);
    if (i < m)
      add(TaskKind::input_gradient, device, i);
    if (i >= device)
      add(TaskKind::weight_gradient, device, i - device);
  }
}

void Orders::inference(int64_t device) {
  for (int64_t i = 0; i < schedule.rounds * m; ++i)
    add(TaskKind::forward, device, i);
}

//===----------------------------------------------------------------------===//
// Schedules in which microbatches enter at both ends
//===----------------------------------------------------------------------===//

/// Adds a task. Microbatches 0 to half - 1 enter at device 0, the remaining
/// ones at device p - 1.
void DualPipe::add(TaskKind kind, int side, int64_t index) {
  bool reversed = (side == 1) != (device >= p / 2);
  ScheduledTask task;
  task.microbatch = static_cast<uint32_t>(reversed ? half + index : index);
  task.stage = static_cast<uint16_t>(reversed ? p - 1 - device : device);
  task.kind = kind;
  tasks.push_back(task);
}

void DualPipe::backward(int side) {
  add(TaskKind::backward, side, backwards[side]++);
}

void DualPipe::inputGradient(int side) {
  waiting.emplace_back(side, backwards[side]);
  add(TaskKind::input_gradient, side, backwards[side]++);
}

void DualPipe::weights() {
  auto [side, index] = waiting[nextWaiting++];
  add(TaskKind::weight_gradient, side, index);
}

void DualPipe::pair(int forwardSide, int backwardSide) {
  forward(forwardSide);
  tasks.back().overlapsNext = true;
  backward(backwardSide);
}

/// Alternates the backwards of both sides; in the second half, weight gradients
/// wait.
void DualPipe::fillEnd(int64_t count) {
  for (int64_t i = 0; i < 2 * count; ++i) {
    int side = i % 2 == 0 ? 1 : 0;
    if (i < count)
      backward(side);
    else
      inputGradient(side);
  }
}

/// Adds the phases of the published schedule. `outer` is the number of devices
/// between this one and the nearer end, `inner` the number between this one and
/// the middle.
void DualPipe::run() {
  int64_t outer = std::min(device, p - 1 - device), inner = p / 2 - 1 - outer;
  for (int64_t i = 0; i < 2 * inner; ++i)
    forward(0);
  for (int64_t i = 0; i <= outer; ++i) {
    forward(0);
    forward(1);
  }
  for (int64_t i = 0; i < inner; ++i) {
    inputGradient(1);
    weights();
    forward(1);
  }
  for (int64_t i = 0; i <= half - p + outer; ++i) {
    if (i == 0 && inner == 0) {
      // The middle device waits for nothing, so that it is faster if the two
      // tasks do not overlap.
      forward(0);
      backward(1);
    } else {
      pair(0, 1);
    }
    pair(1, 0);
  }
  for (int64_t i = 0; i < inner; ++i) {
    backward(1);
    pair(1, 0);
  }
  fillEnd(outer + 1);
  for (int64_t i = 0; i < inner; ++i) {
    weights();
    inputGradient(0);
  }
  while (nextWaiting < waiting.size())
    weights();
}

//===----------------------------------------------------------------------===//
// Order of the tasks of any schedule
//===----------------------------------------------------------------------===//

int64_t autopar::schedule::leadOf(const PipelineSchedule &schedule,
                                  int64_t device) {
  int64_t behind = schedule.stages - 1 - device;
  if (schedule.kind == ScheduleKind::gpipe)
    return schedule.microbatches + 2 * behind;
  if (schedule.kind == ScheduleKind::interleaved)
    return (schedule.interleave - 1) * schedule.stages + 2 * behind;
  return behind;
}

int64_t autopar::schedule::aheadOf(const PipelineSchedule &schedule,
                                   int64_t device) {
  return std::min(leadOf(schedule, device),
                  schedule.microbatches * schedule.interleave);
}

int64_t autopar::schedule::countTasks(const PipelineSchedule &schedule) {
  int64_t all = schedule.stages * schedule.interleave * schedule.microbatches;
  switch (schedule.kind) {
  case ScheduleKind::gpipe:
  case ScheduleKind::one_f_one_b:
  case ScheduleKind::interleaved:
    return 2 * all;
  case ScheduleKind::zero_bubble:
  case ScheduleKind::dual_pipe:
    return 3 * all;
  case ScheduleKind::inference:
    return schedule.rounds * all;
  }
  return 0;
}

static void orderDevice(const PipelineSchedule &schedule, int64_t device,
                        std::vector<ScheduledTask> &tasks) {
  Orders orders(schedule, tasks);
  switch (schedule.kind) {
  case ScheduleKind::gpipe:
    return orders.gpipe(device);
  case ScheduleKind::one_f_one_b:
    return orders.oneFOneB(device);
  case ScheduleKind::interleaved:
    return orders.interleaved(device);
  case ScheduleKind::zero_bubble:
    return orders.zeroBubble(device);
  case ScheduleKind::dual_pipe:
    return DualPipe(schedule, device, tasks).run();
  case ScheduleKind::inference:
    return orders.inference(device);
  }
}

void autopar::schedule::orderTasks(const PipelineSchedule &schedule,
                                   PipelineTimeline &timeline) {
  timeline.tasks.reserve(countTasks(schedule));
  timeline.devices.resize(schedule.stages);
  for (int64_t d = 0; d < schedule.stages; ++d) {
    timeline.devices[d].firstTask = timeline.tasks.size();
    orderDevice(schedule, d, timeline.tasks);
    timeline.devices[d].endTask = timeline.tasks.size();
  }
}
