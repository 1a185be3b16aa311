//===- EvenSplitTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AlikeLayers.h"

#include <gtest/gtest.h>

#include <random>

using namespace autopar;
using namespace autopar::schedule;

/// Layers of 10 ps and 4 bytes between an embedding and a head.
static StagingProblem problemOf(int64_t layers, int64_t stages,
                                int64_t interleave) {
  StagingProblem problem;
  problem.layers.assign(layers, {10, 4});
  problem.embedding = {3, 2};
  problem.head = {9, 5};
  problem.stages = stages;
  problem.interleave = interleave;
  return problem;
}

TEST(EvenSplit, OfAlikeLayers) {
  std::optional<StagePartition> even = evenSplit(problemOf(12, 3, 2));
  ASSERT_TRUE(even);
  EXPECT_EQ(rangesText(even->ranges), "0-1,2-3,4-5,6-7,8-9,10-11");
  ASSERT_EQ(even->devices.size(), 3u);
  EXPECT_EQ(even->devices[0].timePs, 43);
  EXPECT_EQ(even->devices[0].memoryBytes, 18);
  EXPECT_EQ(even->devices[1].timePs, 40);
  EXPECT_EQ(even->devices[2].timePs, 49);
  EXPECT_EQ(even->devices[2].memoryBytes, 21);
  EXPECT_EQ(even->heaviest, 2);
  EXPECT_EQ(even->aboveSecondPs, 6);
  EXPECT_EQ(even->aboveMeanPs, 5);
  EXPECT_TRUE(even->optimal());
}

/// With a head of a layer, 4 + 4 + 4 layers are no better than 5 + 4 + 3.
TEST(EvenSplit, NotWhereAnotherIsAsGood) {
  StagingProblem problem = problemOf(12, 3, 1);
  problem.head.timePs = 10;
  EXPECT_FALSE(evenSplit(problem));
  EXPECT_FALSE(evenSplit(problemOf(13, 3, 1)));
  problem = problemOf(12, 3, 1);
  problem.layers[5].memoryBytes = 5;
  EXPECT_FALSE(evenSplit(problem));
  problem = problemOf(12, 2, 1);
  problem.folded = true;
  EXPECT_FALSE(evenSplit(problem));
}

/// 16 + 2, 16 and 16 + 5 bytes; a limit of 20 leaves room for 4, 5 and 3
/// layers, one of 18 for 4, 4 and 3.
TEST(EvenSplit, NotWhereAnotherFitsAlone) {
  StagingProblem problem = problemOf(12, 3, 1);
  problem.memoryLimitBytes = 21;
  EXPECT_TRUE(evenSplit(problem));
  problem.memoryLimitBytes = 20;
  EXPECT_FALSE(evenSplit(problem));
  EXPECT_EQ(rangesText(layOutStages(problem)->ranges), "0-3,4-8,9-11");
  problem.memoryLimitBytes = 18;
  EXPECT_TRUE(evenSplit(problem));
  EXPECT_EQ(rangesText(layOutStages(problem)->ranges), "0-3,4-7,8-11");
}

/// What the search finds without it.
TEST(EvenSplit, IsThatOfTheSearch) {
  std::mt19937_64 random(7);
  auto upTo = [&](int64_t most) { return int64_t(random() % (most + 1)); };
  int64_t count = 0;
  for (int i = 0; i < 2000; ++i) {
    int64_t stages = 1 + upTo(7), interleave = 1 + upTo(3);
    int64_t layers = stages * interleave * (1 + upTo(4));
    StagingProblem problem = problemOf(layers, stages, interleave);
    for (LayerCost &layer : problem.layers)
      layer = {20, 8, 1};
    problem.layers.front().timePs -= upTo(3);
    problem.layers.back().savedBytes += upTo(1);
    problem.embedding = {upTo(24), upTo(9), upTo(2)};
    problem.head = {upTo(24), upTo(9), upTo(2)};
    problem.inFlight = interleave == 1 ? upTo(9) : 0;
    if (upTo(1))
      problem.memoryLimitBytes = 8 * layers / stages + upTo(30);
    std::optional<StagePartition> even = evenSplit(problem);
    Result<StagePartition> found = partitionStages(problem);
    if (!even)
      continue;
    if (exceedsMemory(problem, *even)) {
      EXPECT_FALSE(bool(found)) << i;
      problem.memoryLimitBytes.reset();
      found = partitionStages(problem);
    }
    ASSERT_TRUE(bool(found)) << i;
    ++count;
    EXPECT_EQ(rangesText(even->ranges), rangesText(found->ranges)) << i;
    EXPECT_EQ(even->lowerBoundPs, found->lowerBoundPs) << i;
    EXPECT_EQ(even->heaviest, found->heaviest) << i;
    EXPECT_EQ(even->aboveSecondPs, found->aboveSecondPs) << i;
    for (int64_t d = 0; d < stages; ++d) {
      EXPECT_EQ(even->devices[d].timePs, found->devices[d].timePs) << i;
      EXPECT_EQ(even->devices[d].memoryBytes, found->devices[d].memoryBytes);
    }
  }
  EXPECT_GT(count, 500);
}
