//===- GrowthTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Growth.h"

#include <gtest/gtest.h>

#include <random>

using namespace autopar;
using namespace autopar::schedule;

static StageWork workOf(Picoseconds forward, Picoseconds transfer = 0) {
  StageWork work;
  work.forwardPs = forward;
  work.transferPs = transfer;
  return work;
}

static PipelineSchedule prefill(std::vector<StageWork> stages,
                                int64_t microbatches) {
  PipelineSchedule schedule;
  schedule.kind = ScheduleKind::inference;
  schedule.stages = static_cast<int64_t>(stages.size());
  schedule.microbatches = microbatches;
  schedule.work = std::move(stages);
  return schedule;
}

TEST(Growth, IsThatOfTheCriticalPath) {
  // Four microbatches through the second stage, one through the others.
  PipelineSchedule schedule =
      prefill({workOf(10, 3), workOf(20, 5), workOf(10)}, 4);
  EXPECT_EQ(growthOf(schedule, {workOf(1), workOf(0), workOf(0)}).makespan, 1);
  EXPECT_EQ(growthOf(schedule, {workOf(0), workOf(1), workOf(0)}).makespan, 4);
  EXPECT_EQ(
      growthOf(schedule, {workOf(0, 1), workOf(0, 1), workOf(0, 1)}).makespan,
      2);
}

TEST(Growth, TakesTheFastestOfEquals) {
  // Either stage is the one that all four microbatches wait for.
  PipelineSchedule schedule = prefill({workOf(10), workOf(10)}, 4);
  EXPECT_EQ(growthOf(schedule, {workOf(1), workOf(0)}).makespan, 4);
  EXPECT_EQ(growthOf(schedule, {workOf(0), workOf(1)}).makespan, 4);
  EXPECT_EQ(growthOf(schedule, {workOf(-1), workOf(0)}).makespan, -1);
  EXPECT_EQ(growthOf(schedule, {workOf(1), workOf(1)}).makespan, 5);
}

TEST(Growth, OfRoundsThatRepeat) {
  PipelineSchedule schedule = prefill({workOf(10, 2), workOf(30, 2)}, 2);
  schedule.loop = true;
  schedule.rounds = 3;
  Growth growth = growthOf(schedule, {workOf(0), workOf(1)});
  ASSERT_EQ(growth.roundEnds.size(), 3u);
  EXPECT_EQ(growth.roundEnds[2] - growth.roundEnds[1], 2);
}

static StageWork draw(std::mt19937 &random, int64_t least, int64_t most) {
  auto pick = [&] {
    return std::uniform_int_distribution<Picoseconds>(least, most)(random);
  };
  StageWork work;
  work.forwardPs = pick();
  work.inputGradientPs = pick();
  work.weightGradientPs = pick();
  work.transferPs = pick();
  work.forwardCommunicationPs = work.forwardPs / 3;
  work.backwardCommunicationPs = work.backwardPs() / 4;
  return work;
}

/// `work` with so many times `growth`.
static StageWork grown(StageWork work, const StageWork &growth,
                       Picoseconds times) {
  for (Picoseconds StageWork::*part :
       {&StageWork::forwardPs, &StageWork::inputGradientPs,
        &StageWork::weightGradientPs, &StageWork::transferPs,
        &StageWork::forwardCommunicationPs,
        &StageWork::backwardCommunicationPs})
    work.*part += times * (growth.*part);
  return work;
}

/// Works that are far apart stay in order while they grow a little.
TEST(Growth, IsWhatSchedulesGrowBy) {
  std::mt19937 random(1);
  for (ScheduleKind kind :
       {ScheduleKind::gpipe, ScheduleKind::one_f_one_b,
        ScheduleKind::interleaved, ScheduleKind::zero_bubble,
        ScheduleKind::dual_pipe, ScheduleKind::inference})
    for (int i = 0; i < 50; ++i) {
      PipelineSchedule schedule;
      schedule.kind = kind;
      schedule.stages = 4;
      schedule.interleave = kind == ScheduleKind::interleaved ? 2 : 1;
      schedule.microbatches = 8;
      std::vector<StageWork> growth;
      for (int64_t s = 0; s < schedule.stages * schedule.interleave; ++s) {
        schedule.work.push_back(draw(random, 1 << 20, 1 << 30));
        growth.push_back(draw(random, -9, 9));
      }
      PipelineSchedule later = schedule;
      for (size_t s = 0; s < growth.size(); ++s)
        later.work[s] = grown(later.work[s], growth[s], 10);
      Result<PipelineTimeline> before = simulateSchedule(schedule);
      Result<PipelineTimeline> after = simulateSchedule(later);
      ASSERT_TRUE(before && after);
      EXPECT_EQ(after->makespanPs - before->makespanPs,
                10 * growthOf(schedule, growth).makespan)
          << nameOf(kind) << ' ' << i;
    }
}
