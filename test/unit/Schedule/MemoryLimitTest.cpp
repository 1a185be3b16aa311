//===- MemoryLimitTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::schedule;

/// Six layers of 1 byte on two devices.
static StagingProblem problemOf(std::vector<Picoseconds> times,
                                int64_t limitBytes) {
  StagingProblem problem;
  for (Picoseconds time : times)
    problem.layers.push_back({time, 1});
  problem.stages = 2;
  problem.memoryLimitBytes = limitBytes;
  return problem;
}

TEST(DescribeStages, SumsWhateverTheLimit) {
  StagingProblem problem = problemOf({10, 10, 10, 10, 10, 10}, 3);
  Result<StagePartition> given = describeStages(problem, {{0, 2}, {2, 6}});
  ASSERT_TRUE(bool(given));
  EXPECT_EQ(given->devices[1].memoryBytes, 4);
  EXPECT_EQ(given->heaviest, 1);
  EXPECT_EQ(given->heaviestPs(), 40);
  EXPECT_EQ(given->aboveMeanPs, 10);
  EXPECT_EQ(given->lowerBoundPs, 0);
  std::optional<Error> above = exceedsMemory(problem, *given);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->message, "2 stages: the fullest device needs 4 B, 1 B over "
                            "the limit of 3 B");
  EXPECT_FALSE(bool(evaluateStages(problem, {{0, 2}, {2, 6}})));
}

TEST(DescribeStages, RefusesWhatIsNoSplit) {
  StagingProblem problem = problemOf({10, 10, 10, 10, 10, 10}, 3);
  EXPECT_FALSE(bool(describeStages(problem, {{0, 2}, {3, 6}})));
}

TEST(ExceedsMemory, NotWhatIsAsMuch) {
  StagingProblem problem = problemOf({10, 10, 10, 10, 10, 10}, 3);
  Result<StagePartition> even = describeStages(problem, {{0, 3}, {3, 6}});
  ASSERT_TRUE(bool(even));
  EXPECT_FALSE(exceedsMemory(problem, *even));
}

/// Three layers on each device hold the least; two times 30 take as long as the
/// other four.
TEST(LayOutStages, LeavesOutALimitThatCannotBeMet) {
  std::vector<Picoseconds> times = {10, 10, 10, 10, 30, 30};
  StagingProblem problem = problemOf(times, 3), narrow = problemOf(times, 2);
  Result<StagePartition> within = layOutStages(problem);
  ASSERT_TRUE(bool(within));
  EXPECT_EQ(rangesText(within->ranges), "0-2,3-5");
  Result<StagePartition> without = layOutStages(narrow);
  ASSERT_TRUE(bool(without));
  EXPECT_EQ(rangesText(without->ranges), "0-3,4-5");
  EXPECT_TRUE(exceedsMemory(narrow, *without));
  EXPECT_FALSE(bool(partitionStages(narrow)));
}
