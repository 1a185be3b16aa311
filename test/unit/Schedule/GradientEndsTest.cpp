//===- GradientEndsTest.cpp - Periods of 1F1B equal its simulation --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Timeline.h"

#include <gtest/gtest.h>

#include <random>

using namespace autopar;
using namespace autopar::schedule;

/// Works of few and of many values, with and without transfers: equal stages,
/// one that is heavier, and none alike.
TEST(GradientEnds, EqualTheSimulation) {
  std::mt19937_64 random(7);
  auto upTo = [&](int64_t most) { return int64_t(random() % (most + 1)); };
  for (int i = 0; i < 1000; ++i) {
    PipelineSchedule schedule;
    schedule.stages = 1 + upTo(11);
    schedule.microbatches = 1 + upTo(i % 10 == 0 ? 200 : 40);
    int64_t most = i % 3 == 0 ? 2 : i % 3 == 1 ? 20 : 1'000'000;
    for (int64_t d = 0; d < schedule.stages; ++d) {
      StageWork work;
      work.forwardPs = upTo(most);
      work.inputGradientPs = upTo(most);
      work.weightGradientPs = upTo(most);
      work.transferPs = i % 2 ? upTo(most) : 0;
      schedule.work.push_back(work);
    }
    Result<PipelineTimeline> timeline = simulateSchedule(schedule);
    ASSERT_TRUE(timeline);
    EXPECT_EQ(gradientEnds(schedule), endsOf(*timeline))
        << i << ": " << schedule.stages << " stages, " << schedule.microbatches
        << " microbatches";
  }
}

TEST(GradientEnds, AreThoseOfTheClosedForm) {
  PipelineSchedule schedule;
  schedule.stages = 64;
  schedule.microbatches = 512;
  StageWork work;
  work.forwardPs = 3;
  work.inputGradientPs = work.weightGradientPs = 2;
  schedule.work.assign(64, work);
  EXPECT_EQ(gradientEnds(schedule).front(), (512 + 63) * 7);
}
