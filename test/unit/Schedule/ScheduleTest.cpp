//===- ScheduleTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Timeline.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace autopar;
using namespace autopar::schedule;

namespace {

StageWork workOf(Picoseconds forward, Picoseconds input, Picoseconds weight,
                 Picoseconds transfer = 0) {
  StageWork work;
  work.forwardPs = forward;
  work.inputGradientPs = input;
  work.weightGradientPs = weight;
  work.transferPs = transfer;
  return work;
}

PipelineSchedule even(ScheduleKind kind, int64_t stages, int64_t microbatches,
                      const StageWork &work, int64_t interleave = 1) {
  PipelineSchedule schedule;
  schedule.kind = kind;
  schedule.stages = stages;
  schedule.interleave = interleave;
  schedule.microbatches = microbatches;
  schedule.work.assign(stages * interleave, work);
  return schedule;
}

PipelineTimeline simulate(const PipelineSchedule &schedule) {
  Result<PipelineTimeline> timeline = simulateSchedule(schedule);
  EXPECT_TRUE(bool(timeline)) << timeline.error().str();
  return timeline ? *timeline : PipelineTimeline();
}

std::string errorOf(const PipelineSchedule &schedule) {
  Result<PipelineTimeline> timeline = simulateSchedule(schedule);
  return timeline ? "" : timeline.error().str();
}

//===----------------------------------------------------------------------===//
// Closed forms
//===----------------------------------------------------------------------===//

template <typename Body>
void forEachWork(Body body) {
  for (int64_t f : {1, 3, 5})
    for (int64_t i : {1, 2, 5})
      for (int64_t w : {1, 2, 4})
        body(f, i, w);
}

TEST(ClosedForms, Gpipe) {
  for (int64_t p = 1; p <= 9; ++p)
    for (int64_t m = 1; m <= 20; ++m)
      forEachWork([&](int64_t f, int64_t i, int64_t w) {
        PipelineTimeline timeline =
            simulate(even(ScheduleKind::gpipe, p, m, workOf(f, i, w)));
        EXPECT_EQ(timeline.makespanPs, (m + p - 1) * (f + i + w));
        EXPECT_DOUBLE_EQ(timeline.bubbleFraction,
                         double(p - 1) / double(m + p - 1));
        for (const DeviceTimeline &device : timeline.devices)
          EXPECT_EQ(device.peakInFlight, m);
      });
}

TEST(ClosedForms, OneForwardOneBackward) {
  for (int64_t p = 1; p <= 9; ++p)
    for (int64_t m = 1; m <= 20; ++m)
      forEachWork([&](int64_t f, int64_t i, int64_t w) {
        PipelineTimeline timeline =
            simulate(even(ScheduleKind::one_f_one_b, p, m, workOf(f, i, w)));
        EXPECT_EQ(timeline.makespanPs, (m + p - 1) * (f + i + w));
        for (int64_t d = 0; d < p; ++d) {
          EXPECT_EQ(timeline.devices[d].idlePs, (p - 1) * (f + i + w));
          EXPECT_EQ(timeline.devices[d].peakInFlight, std::min(p - d, m));
        }
      });
}

/// With f and b of a virtual stage: (m * v + p - 1) * (f + b).
TEST(ClosedForms, Interleaved) {
  for (int64_t p = 1; p <= 6; ++p)
    for (int64_t v = 2; v <= 4; ++v)
      for (int64_t m = p; m <= 5 * p; m += p)
        forEachWork([&](int64_t f, int64_t i, int64_t w) {
          PipelineTimeline timeline = simulate(
              even(ScheduleKind::interleaved, p, m, workOf(f, i, w), v));
          EXPECT_EQ(timeline.makespanPs, (m * v + p - 1) * (f + i + w));
          for (int64_t d = 0; d < p; ++d)
            EXPECT_EQ(timeline.devices[d].peakInFlight,
                      std::min(2 * (p - 1 - d) + (v - 1) * p + 1, m * v));
        });
}

TEST(ClosedForms, ZeroBubble) {
  for (int64_t p = 1; p <= 9; ++p)
    for (int64_t m = p; m <= 20; ++m)
      forEachWork([&](int64_t f, int64_t i, int64_t w) {
        PipelineTimeline timeline =
            simulate(even(ScheduleKind::zero_bubble, p, m, workOf(f, i, w)));
        if (w <= f && w <= i) {
          EXPECT_EQ(timeline.makespanPs,
                    m * (f + i + w) + (p - 1) * (f + i - w));
        }
        EXPECT_LE(timeline.makespanPs, (m + p - 1) * (f + i + w));
        for (const DeviceTimeline &device : timeline.devices)
          EXPECT_EQ(device.peakInFlight, p);
      });
}

/// DualPipe's bubble of (p / 2 - 1) * (pair + b - 3 * w), pair = f + b and
/// b = i + w, where f = i and w is at most i; p + 1 in flight.
TEST(ClosedForms, DualPipe) {
  for (int64_t p = 2; p <= 10; p += 2)
    for (int64_t m = 2 * p; m <= 4 * p; m += 2)
      for (auto [f, w] : {std::pair(1, 1), {2, 1}, {5, 3}, {4, 0}}) {
        PipelineTimeline timeline =
            simulate(even(ScheduleKind::dual_pipe, p, m, workOf(f, f, w)));
        EXPECT_EQ(timeline.makespanPs,
                  m * (2 * f + w) + (p / 2 - 1) * (3 * f - w));
        for (const DeviceTimeline &device : timeline.devices)
          EXPECT_EQ(device.peakInFlight, p + 1);
      }
}

//===----------------------------------------------------------------------===//
// Against the rules
//===----------------------------------------------------------------------===//

/// Checks a timeline task by task: everything runs once, and begins when its
/// device is free and what it needs is there, not before and not after.
class Rules {
public:
  Rules(const PipelineSchedule &schedule, const PipelineTimeline &timeline)
      : schedule(schedule), timeline(timeline),
        last(int64_t(schedule.stages * schedule.interleave) - 1) {
    for (const ScheduledTask &task : timeline.tasks) {
      if (task.kind == TaskKind::forward)
        forwards[{task.stage, task.microbatch}] = task.endPs;
      else if (task.kind != TaskKind::weight_gradient)
        gradients[{task.stage, task.microbatch}] = task.endPs;
    }
  }
  void check() {
    size_t units = (last + 1) * schedule.microbatches;
    EXPECT_EQ(forwards.size(), units);
    EXPECT_EQ(gradients.size(), units);
    Picoseconds end = 0;
    for (const DeviceTimeline &device : timeline.devices)
      end = std::max(end, checkDevice(device));
    EXPECT_EQ(weights, units);
    EXPECT_EQ(timeline.makespanPs, end);
  }

private:
  Picoseconds arrivalOf(const ScheduledTask &task) const {
    std::pair<int64_t, int64_t> own(task.stage, task.microbatch);
    bool isForward = task.kind == TaskKind::forward;
    if (task.kind == TaskKind::weight_gradient)
      return gradients.at(own);
    if (isForward && task.stage == 0)
      return 0;
    if (!isForward && task.stage == last)
      return forwards.at(own);
    int64_t from = isForward ? task.stage - 1 : task.stage + 1;
    Picoseconds sent =
        (isForward ? forwards : gradients).at({from, task.microbatch});
    int64_t link = std::min<int64_t>(from, task.stage);
    return sent + (schedule.stages > 1 ? schedule.work[link].transferPs : 0);
  }
  Picoseconds durationOf(const ScheduledTask &task) {
    const StageWork &work = schedule.work[task.stage];
    bool whole = task.kind == TaskKind::backward;
    weights += whole || task.kind == TaskKind::weight_gradient;
    if (task.kind == TaskKind::forward)
      return work.forwardPs;
    return (whole || task.kind == TaskKind::input_gradient
                ? work.inputGradientPs
                : 0) +
           (whole || task.kind == TaskKind::weight_gradient
                ? work.weightGradientPs
                : 0);
  }
  Picoseconds checkDevice(const DeviceTimeline &device) {
    Picoseconds free = 0, busy = 0;
    for (size_t i = device.firstTask; i < device.endTask; ++i) {
      const ScheduledTask &task = timeline.tasks[i];
      Picoseconds start = std::max(free, arrivalOf(task));
      Picoseconds duration = durationOf(task);
      if (task.overlapsNext) {
        const ScheduledTask &next = timeline.tasks[++i];
        start = std::max(start, arrivalOf(next));
        duration += durationOf(next);
        EXPECT_EQ(next.startPs, start);
        EXPECT_EQ(next.endPs, start + duration);
      }
      EXPECT_EQ(task.startPs, start);
      EXPECT_EQ(task.endPs, start + duration);
      free = start + duration;
      busy += duration;
    }
    EXPECT_EQ(device.busyPs, busy);
    EXPECT_EQ(device.idlePs, timeline.makespanPs - busy);
    return free;
  }

  const PipelineSchedule &schedule;
  const PipelineTimeline &timeline;
  int64_t last;
  std::map<std::pair<int64_t, int64_t>, Picoseconds> forwards, gradients;
  size_t weights = 0;
};

void checkCurves(const PipelineTimeline &timeline) {
  for (size_t d = 0; d < timeline.devices.size(); ++d) {
    std::vector<InFlight> curve = inFlightOf(timeline, int64_t(d));
    int64_t peak = 0;
    for (size_t i = 0; i < curve.size(); ++i) {
      peak = std::max(peak, curve[i].count);
      if (i > 0) {
        EXPECT_LT(curve[i - 1].timePs, curve[i].timePs);
      }
    }
    EXPECT_EQ(peak, timeline.devices[d].peakInFlight);
    EXPECT_EQ(curve.back().count, 0);
  }
}

/// Uneven stages and transfers, all training schedules.
TEST(SimulateSchedule, FollowsTheRules) {
  std::mt19937 random(3);
  auto upTo = [&](int64_t most) { return int64_t(random() % (most + 1)); };
  for (int i = 0; i < 300; ++i) {
    PipelineSchedule schedule;
    schedule.kind = ScheduleKind(i % 5);
    schedule.stages = 1 + upTo(7);
    schedule.microbatches = 1 + upTo(20);
    if (schedule.kind == ScheduleKind::interleaved) {
      schedule.interleave = 2 + upTo(2);
      schedule.microbatches = schedule.stages * (1 + upTo(3));
    }
    if (schedule.kind == ScheduleKind::dual_pipe) {
      schedule.stages = 2 * (1 + upTo(4));
      schedule.microbatches = 2 * (schedule.stages + upTo(10));
    }
    for (int64_t s = 0; s < schedule.stages * schedule.interleave; ++s)
      schedule.work.push_back(
          workOf(1 + upTo(100), 1 + upTo(100), 1 + upTo(100), upTo(30)));
    PipelineTimeline timeline = simulate(schedule);
    Rules(schedule, timeline).check();
    checkCurves(timeline);
  }
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

/// Stage 0: F0 0-2, F1 2-4, B0 12-16, B1 20-24; stage 1: F0 3-6, B0 6-11,
/// F1 11-14, B1 14-19.
TEST(SimulateSchedule, UnevenOneForwardOneBackward) {
  PipelineSchedule schedule =
      even(ScheduleKind::one_f_one_b, 2, 2, workOf(2, 3, 1, 1));
  schedule.work[1] = workOf(3, 4, 1);
  schedule.work[0].savedBytes = 100;
  schedule.work[1].savedBytes = 7;
  PipelineTimeline timeline = simulate(schedule);
  EXPECT_EQ(timeline.makespanPs, 24);
  EXPECT_EQ(timeline.devices[0].busyPs, 12);
  EXPECT_EQ(timeline.devices[1].idlePs, 8);
  EXPECT_DOUBLE_EQ(timeline.bubbleFraction, 20 / 48.0);
  EXPECT_EQ(timeline.devices[0].peakSavedBytes, 200);
  EXPECT_EQ(timeline.devices[1].peakSavedBytes, 7);
  std::string curve;
  for (const InFlight &change : inFlightOf(timeline, 0))
    curve += std::to_string(change.timePs) + ":" +
             std::to_string(change.count) + " ";
  EXPECT_EQ(curve, "0:1 2:2 16:1 24:0 ");
}

/// A pair takes the longer of its 6 + 9 less communication, and that.
TEST(SimulateSchedule, DualPipeHidesCommunication) {
  PipelineSchedule schedule =
      even(ScheduleKind::dual_pipe, 2, 8, workOf(6, 6, 3));
  Picoseconds plain = simulate(schedule).makespanPs;
  EXPECT_EQ(plain, 8 * 15);
  for (StageWork &work : schedule.work) {
    work.forwardCommunicationPs = 2;
    work.backwardCommunicationPs = 3;
  }
  PipelineTimeline timeline = simulate(schedule);
  // Of the 8 forwards and backwards of a device, 5 are pairs: 5 less each.
  size_t pairs = 0;
  for (const ScheduledTask &task : timeline.tasks)
    pairs += task.overlapsNext;
  EXPECT_EQ(pairs, 10u);
  EXPECT_EQ(timeline.makespanPs, plain - 5 * 5);
  for (StageWork &work : schedule.work) {
    work.forwardCommunicationPs = 5;
    work.backwardCommunicationPs = 7;
  }
  EXPECT_EQ(simulate(schedule).makespanPs, plain - 5 * 3);
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// Chunks that take 2, 3 and 4 on both of two stages, one prompt: 0-2-5-9 on
/// the first, 2-4, 5-8, 9-13 on the second.
TEST(Inference, ChunksOfOnePrompt) {
  PipelineSchedule schedule = even(ScheduleKind::inference, 2, 1, {});
  schedule.rounds = 3;
  schedule.work.clear();
  for (int64_t time : {2, 3, 4})
    schedule.work.insert(schedule.work.end(), 2, workOf(time, 0, 0));
  PipelineTimeline timeline = simulate(schedule);
  EXPECT_EQ(timeline.roundEndPs, (std::vector<Picoseconds>{4, 8, 13}));
  EXPECT_EQ(timeline.makespanPs, 13);
  EXPECT_EQ(timeline.devices[1].busyPs, 9);
  EXPECT_EQ(timeline.devices[1].peakInFlight, 1);
  checkCurves(timeline);
}

/// A decode step of each of m microbatches takes max(m, p) stage times: with
/// fewer microbatches than stages, stages wait for the loop.
TEST(Inference, DecodeStepsInALoop) {
  constexpr int64_t t = 10, steps = 5;
  for (int64_t p = 1; p <= 6; ++p)
    for (int64_t m = 1; m <= 9; ++m) {
      PipelineSchedule schedule =
          even(ScheduleKind::inference, p, m, workOf(t, 0, 0));
      schedule.rounds = steps;
      schedule.loop = true;
      PipelineTimeline timeline = simulate(schedule);
      EXPECT_EQ(timeline.makespanPs,
                ((steps - 1) * std::max(m, p) + m + p - 1) * t);
      EXPECT_EQ(timeline.roundEndPs[4] - timeline.roundEndPs[3],
                std::max(m, p) * t);
    }
}

/// Uneven: the pace is the longest of a round over the heaviest stage and the
/// way of one microbatch, 3 + 7 + 2 and transfers 1 + 1 + 4.
TEST(Inference, UnevenDecodeSteps) {
  PipelineSchedule schedule = even(ScheduleKind::inference, 3, 1, {});
  schedule.work = {workOf(3, 0, 0, 1), workOf(7, 0, 0, 1), workOf(2, 0, 0, 4)};
  schedule.rounds = 6;
  schedule.loop = true;
  for (auto [m, pace] : {std::pair(1, 18), {2, 18}, {3, 21}, {4, 28}}) {
    schedule.microbatches = m;
    PipelineTimeline timeline = simulate(schedule);
    EXPECT_EQ(timeline.roundEndPs[5] - timeline.roundEndPs[4], pace) << m;
  }
}

//===----------------------------------------------------------------------===//
// Errors and names
//===----------------------------------------------------------------------===//

TEST(SimulateSchedule, RefusesSchedulesThatDoNotExist) {
  StageWork work = workOf(1, 1, 1);
  EXPECT_EQ(errorOf(even(ScheduleKind::gpipe, 4, 8, work, 2)),
            "schedule gpipe of 2 virtual stages a device\n"
            "  note: interleave 1, or take schedule interleaved");
  EXPECT_EQ(errorOf(even(ScheduleKind::interleaved, 4, 8, work)),
            "schedule interleaved of 1 virtual stage a device\n  note: "
            "interleave at least 2 virtual stages, or take one_f_one_b");
  EXPECT_EQ(errorOf(even(ScheduleKind::interleaved, 4, 10, work, 2)),
            "schedule interleaved of 10 microbatches over 4 stages\n  note: "
            "microbatches go in groups of one per stage: take 8 or 12");
  EXPECT_EQ(errorOf(even(ScheduleKind::interleaved, 4, 1, work, 2)),
            "schedule interleaved of 1 microbatch over 4 stages\n  note: "
            "microbatches go in groups of one per stage: take 4");
  EXPECT_EQ(errorOf(even(ScheduleKind::dual_pipe, 3, 8, work)),
            "schedule dual_pipe of 3 stages\n  note: it has two halves: take "
            "4 stages, or one_f_one_b");
  EXPECT_EQ(errorOf(even(ScheduleKind::dual_pipe, 4, 7, work)),
            "schedule dual_pipe of 7 microbatches over 4 stages\n  note: half "
            "of them enter at either end, at least one per stage: take 8");
  PipelineSchedule looped = even(ScheduleKind::gpipe, 4, 8, work);
  looped.rounds = 2;
  EXPECT_EQ(errorOf(looped), "schedule gpipe of 2 rounds\n  note: only "
                             "inference has rounds and loops");
}

TEST(SimulateSchedule, RefusesBadNumbers) {
  StageWork work = workOf(1, 1, 1);
  for (int64_t bad : {INT64_MIN, int64_t(-1), int64_t(0), INT64_MAX}) {
    PipelineSchedule schedule = even(ScheduleKind::inference, 2, 2, work);
    schedule.stages = bad;
    EXPECT_NE(errorOf(schedule), "") << bad;
    schedule = even(ScheduleKind::interleaved, 2, 2, work, 2);
    schedule.interleave = bad;
    EXPECT_NE(errorOf(schedule), "") << bad;
    schedule = even(ScheduleKind::gpipe, 2, 2, work);
    schedule.microbatches = bad;
    EXPECT_NE(errorOf(schedule), "") << bad;
    schedule = even(ScheduleKind::inference, 2, 2, work);
    schedule.rounds = bad;
    EXPECT_NE(errorOf(schedule), "") << bad;
  }
  EXPECT_NE(errorOf(even(ScheduleKind::gpipe, 4096, 4096, work)), "");
  EXPECT_NE(errorOf(even(ScheduleKind::interleaved, 4096, 4096, work, 2)), "");
  PipelineSchedule schedule = even(ScheduleKind::gpipe, 2, 2, work);
  schedule.work.pop_back();
  EXPECT_EQ(errorOf(schedule),
            "work of 1 virtual stage\n  note: the schedule has 2");
  for (auto member :
       {&StageWork::forwardPs, &StageWork::inputGradientPs,
        &StageWork::weightGradientPs, &StageWork::transferPs,
        &StageWork::forwardCommunicationPs, &StageWork::backwardCommunicationPs,
        &StageWork::savedBytes})
    for (int64_t bad : {INT64_MIN, int64_t(-1), INT64_MAX}) {
      schedule = even(ScheduleKind::gpipe, 2, 2, work);
      schedule.work[1].*member = bad;
      EXPECT_NE(errorOf(schedule), "") << bad;
    }
  EXPECT_NE(errorOf(even(ScheduleKind::gpipe, 2, 3,
                         workOf(limits::maxStageTimePs, 0, 0))),
            "");
}

TEST(SimulateSchedule, OfNothing) {
  PipelineTimeline timeline =
      simulate(even(ScheduleKind::one_f_one_b, 2, 3, {}));
  EXPECT_EQ(timeline.makespanPs, 0);
  EXPECT_EQ(timeline.bubbleFraction, 0);
}

TEST(ScheduleKinds, HaveNames) {
  for (const char *name : {"gpipe", "one_f_one_b", "interleaved", "zero_bubble",
                           "dual_pipe", "inference"}) {
    std::optional<ScheduleKind> kind = parseScheduleKind(name);
    ASSERT_TRUE(kind) << name;
    EXPECT_EQ(nameOf(*kind), name);
  }
  EXPECT_EQ(parseScheduleKind("1f1b"), ScheduleKind::one_f_one_b);
  EXPECT_FALSE(parseScheduleKind("chimera"));
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

TEST(WriteTrace, OfOneStage) {
  PipelineTimeline timeline = simulate(
      even(ScheduleKind::gpipe, 1, 1, workOf(1'500'000, 2'000'001, 0)));
  EXPECT_EQ(writeTrace(timeline),
            "{\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_name\","
            "\"args\":{\"name\":\"stage 0\"}},\n"
            "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_sort_index\","
            "\"args\":{\"sort_index\":0}},\n"
            "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"name\":\"F0\",\"ts\":0,"
            "\"dur\":1.5,\"args\":{\"virtual_stage\":0,\"microbatch\":0}},\n"
            "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"name\":\"B0\",\"ts\":1.5,"
            "\"dur\":2.000001,\"args\":{\"virtual_stage\":0,"
            "\"microbatch\":0}},\n"
            "{\"ph\":\"C\",\"pid\":0,\"tid\":0,\"name\":\"in flight\",\"ts\":0,"
            "\"args\":{\"microbatches\":1}},\n"
            "{\"ph\":\"C\",\"pid\":0,\"tid\":0,\"name\":\"in flight\","
            "\"ts\":3.500001,\"args\":{\"microbatches\":0}}\n"
            "],\"displayTimeUnit\":\"ms\"}\n");
}

/// Slices of every schedule do not overlap and fill the busy time.
TEST(WriteTrace, OfEverySchedule) {
  for (int kind = 0; kind <= 5; ++kind) {
    bool interleaves = ScheduleKind(kind) == ScheduleKind::interleaved;
    PipelineSchedule schedule =
        even(ScheduleKind(kind), 4, 8, workOf(1'000'000, 2'000'000, 1'000'000),
             interleaves ? 2 : 1);
    PipelineTimeline timeline = simulate(schedule);
    Result<JsonDocument> document =
        JsonDocument::parse(writeTrace(timeline), "trace");
    ASSERT_TRUE(bool(document)) << document.error().str();
    std::vector<double> ends(4), busyUs(4);
    for (const JsonReader &event :
         document->reader().array("traceEvents").elements()) {
      if (event.string("ph") != "X")
        continue;
      int64_t device = event.integer("pid", 0, 3);
      double start = event.number("ts", 0, 1e9);
      EXPECT_GE(start, ends[device]);
      ends[device] = start + event.number("dur", 0, 1e9);
      busyUs[device] += event.number("dur", 0, 1e9);
    }
    for (int64_t d = 0; d < 4; ++d)
      EXPECT_EQ(busyUs[d], toMicroseconds(timeline.devices[d].busyPs));
  }
}

} // namespace
