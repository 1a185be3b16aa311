//===- RunTrainingTest.cpp - Schedules without tasks ----------------------===//
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

namespace {

class Draw {
public:
  int64_t upTo(int64_t most) { return int64_t(random() % (most + 1)); }

  /// Stages of few and of many values, with and without transfers.
  PipelineSchedule schedule(ScheduleKind kind) {
    PipelineSchedule schedule;
    schedule.kind = kind;
    schedule.stages = 1 + upTo(9);
    schedule.microbatches = 1 + upTo(40);
    if (kind == ScheduleKind::interleaved) {
      schedule.interleave = 2 + upTo(4);
      schedule.microbatches = schedule.stages * (1 + upTo(5));
    }
    int64_t most = upTo(1) ? 3 : 1'000'000, transfer = upTo(1) * most;
    for (int64_t i = 0; i < schedule.stages * schedule.interleave; ++i) {
      StageWork work;
      work.forwardPs = upTo(most);
      work.inputGradientPs = upTo(most);
      work.weightGradientPs = upTo(most);
      work.transferPs = upTo(transfer);
      work.savedBytes = upTo(most);
      schedule.work.push_back(work);
    }
    return schedule;
  }

private:
  std::mt19937_64 random{11};
};

TEST(RunTraining, EqualsTheSimulation) {
  Draw draw;
  for (ScheduleKind kind :
       {ScheduleKind::one_f_one_b, ScheduleKind::interleaved,
        ScheduleKind::gpipe, ScheduleKind::zero_bubble})
    for (int i = 0; i < 500; ++i) {
      PipelineSchedule schedule = draw.schedule(kind);
      Result<PipelineTimeline> simulated = simulateSchedule(schedule);
      ASSERT_TRUE(simulated);
      std::vector<int64_t> peaks;
      for (const DeviceTimeline &device : simulated->devices)
        peaks.push_back(device.peakSavedBytes);
      EXPECT_EQ(trainingEnds(schedule), endsOf(*simulated))
          << nameOf(kind) << " " << i << ": " << schedule.stages << " stages, "
          << schedule.microbatches << " microbatches, interleave "
          << schedule.interleave;
      EXPECT_EQ(peakSavedBytes(schedule), peaks) << nameOf(kind) << " " << i;
    }
}

TEST(RunTraining, HasOrderWhereGroupsAreWhole) {
  PipelineSchedule schedule;
  schedule.kind = ScheduleKind::interleaved;
  schedule.stages = 4;
  schedule.microbatches = 8;
  EXPECT_TRUE(hasOrder(schedule));
  schedule.microbatches = 6;
  EXPECT_FALSE(hasOrder(schedule));
  schedule.kind = ScheduleKind::one_f_one_b;
  EXPECT_TRUE(hasOrder(schedule));
}

} // namespace
