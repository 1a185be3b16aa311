//===- Trace.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Timeline.h"

#include <string>

using namespace autopar;
using namespace autopar::schedule;

namespace {

/// Writes events in Chrome's trace format. No text in them needs escapes.
class Trace {
public:
  explicit Trace(const PipelineTimeline &timeline) : timeline(timeline) {}
  std::string write();

private:
  void open(const char *phase, int64_t device, const std::string &name);
  void addProcess(int64_t device);
  void addTask(int64_t device, const ScheduledTask *task);
  void addCounter(int64_t device);
  std::string nameOf(const ScheduledTask &task) const;

  const PipelineTimeline &timeline;
  std::string text;
};

} // namespace

/// Returns a time as text in us, with all its decimals.
static std::string exactUs(Picoseconds time) {
  constexpr Picoseconds psPerUs = 1'000'000;
  std::string text = std::to_string(time / psPerUs);
  Picoseconds fraction = time % psPerUs;
  if (fraction == 0)
    return text;
  std::string digits = std::to_string(psPerUs + fraction).substr(1);
  return text + "." + digits.substr(0, digits.find_last_not_of('0') + 1);
}

static const char *letterOf(TaskKind kind) {
  switch (kind) {
  case TaskKind::forward:
    return "F";
  case TaskKind::backward:
    return "B";
  case TaskKind::input_gradient:
    return "I";
  case TaskKind::weight_gradient:
    return "W";
  }
  return "";
}

/// Returns the name of a task: "F12"; for inference "12.3", which is round 3 of
/// microbatch 12. ".1" follows for virtual stage 1 if the device has several.
std::string Trace::nameOf(const ScheduledTask &task) const {
  std::string name = letterOf(task.kind);
  if (timeline.kind != ScheduleKind::inference)
    return name + std::to_string(task.microbatch);
  return name + std::to_string(task.microbatch % timeline.microbatches) +
         " round " + std::to_string(task.microbatch / timeline.microbatches);
}

/// Begins an event; its closing brace is still to be written.
void Trace::open(const char *phase, int64_t device, const std::string &name) {
  text += text.empty() ? "{\"traceEvents\":[\n" : ",\n";
  text += "{\"ph\":\"";
  text += phase;
  text += "\",\"pid\":" + std::to_string(device) + ",\"tid\":0,\"name\":\"" +
          name + "\"";
}

void Trace::addProcess(int64_t device) {
  std::string number = std::to_string(device);
  open("M", device, "process_name");
  text += ",\"args\":{\"name\":\"stage " + number + "\"}}";
  open("M", device, "process_sort_index");
  text += ",\"args\":{\"sort_index\":" + number + "}}";
}

/// Adds a task as a slice. Two tasks that overlap are one slice.
void Trace::addTask(int64_t device, const ScheduledTask *task) {
  std::string name = nameOf(*task);
  if (task->overlapsNext)
    name += " + " + nameOf(task[1]);
  open("X", device, name);
  text += ",\"ts\":" + exactUs(task->startPs) +
          ",\"dur\":" + exactUs(task->endPs - task->startPs) +
          ",\"args\":{\"virtual_stage\":" + std::to_string(task->stage) +
          ",\"microbatch\":" +
          std::to_string(task->microbatch % timeline.microbatches) + "}}";
}

void Trace::addCounter(int64_t device) {
  for (const InFlight &change : inFlightOf(timeline, device)) {
    open("C", device, "in flight");
    text += ",\"ts\":" + exactUs(change.timePs) +
            ",\"args\":{\"microbatches\":" + std::to_string(change.count) +
            "}}";
  }
}

std::string Trace::write() {
  auto count = static_cast<int64_t>(timeline.devices.size());
  for (int64_t d = 0; d < count; ++d) {
    addProcess(d);
    size_t next = timeline.devices[d].firstTask;
    while (next < timeline.devices[d].endTask) {
      addTask(d, &timeline.tasks[next]);
      next += timeline.tasks[next].overlapsNext ? 2 : 1;
    }
    addCounter(d);
  }
  return text + "\n],\"displayTimeUnit\":\"ms\"}\n";
}

std::string autopar::schedule::writeTrace(const PipelineTimeline &timeline) {
  return Trace(timeline).write();
}
