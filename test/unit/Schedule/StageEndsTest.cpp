//===- StageEndsTest.cpp - Stages that have no layer ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace autopar;
using namespace autopar::schedule;

static StagingProblem problemOf(const std::vector<int64_t> &timesPs,
                                int64_t stages, int64_t interleave = 1) {
  StagingProblem problem;
  for (int64_t time : timesPs)
    problem.layers.push_back({time, 1});
  problem.stages = stages;
  problem.interleave = interleave;
  problem.endsMayBeAlone = true;
  return problem;
}

/// 126 layers over 16 stages of 8 are Llama 3.1 405B's plan.
TEST(PartitionStages, TheFirstAndTheLastMayHaveNoLayer) {
  StagingProblem problem = problemOf(std::vector<int64_t>(126, 10), 16, 8);
  problem.embedding = {1, 7, 0};
  problem.head = {5, 9, 0};
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(partition->ranges.front(), (LayerRange{0, 0}));
  EXPECT_EQ(partition->ranges.back(), (LayerRange{126, 126}));
  for (size_t i = 1; i < 127; ++i)
    EXPECT_EQ(partition->ranges[i], (LayerRange{int64_t(i) - 1, int64_t(i)}));
  EXPECT_EQ(partition->devices[0].timePs, 71);
  EXPECT_EQ(partition->devices[0].memoryBytes, 7 + 7);
  EXPECT_EQ(partition->devices[15].timePs, 75);
  EXPECT_EQ(partition->heaviestPs(), 80);
  EXPECT_TRUE(partition->optimal());
}

TEST(PartitionStages, NoMoreThanTheEndsAreAlone) {
  Result<StagePartition> refused =
      partitionStages(problemOf({1, 1, 1, 1, 1}, 4, 2));
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.error().str(),
            "4 stages with interleave 2 are 8 virtual stages, but the model "
            "has 5 layers\n  note: every virtual stage has at least one layer, "
            "but that the first may have the embedding and the last the head "
            "alone: at most 4 stages");
  // Where nobody says that they may, ranges say so.
  StagingProblem inference = problemOf({1, 1}, 4);
  inference.endsMayBeAlone = false;
  EXPECT_FALSE(bool(partitionStages(inference)));
  EXPECT_TRUE(
      bool(evaluateStages(inference, {{0, 0}, {0, 1}, {1, 2}, {2, 2}})));
}

/// With one virtual stage more than layers, the end that takes longer is alone.
TEST(PartitionStages, TheHeavierEndIsAlone) {
  StagingProblem problem = problemOf({10, 10, 10}, 4);
  problem.head.timePs = 8;
  problem.embedding.timePs = 3;
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(rangesText(partition->ranges), "0,1,2,head");
  EXPECT_EQ(partition->heaviestPs(), 13);
  std::swap(problem.head, problem.embedding);
  partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(rangesText(partition->ranges), "embedding,0,1,2");
  EXPECT_TRUE(partition->optimal());
}

/// No split has less than 20 on the heaviest, with stages of ends alone or not.
TEST(EvaluateStages, EndsAlone) {
  StagingProblem problem = problemOf({10, 10, 10, 10}, 4);
  problem.embedding.timePs = 12;
  problem.head.timePs = 18;
  Result<StagePartition> given =
      evaluateStages(problem, {{0, 0}, {0, 2}, {2, 4}, {4, 4}});
  ASSERT_TRUE(bool(given));
  EXPECT_EQ(given->heaviest, 1);
  EXPECT_EQ(given->heaviestPs(), 20);
  EXPECT_EQ(given->lowerBoundPs, 20);
  EXPECT_EQ(given->devices[0].timePs, 12);
  EXPECT_EQ(given->devices[3].timePs, 18);
  Result<StagePartition> middle =
      evaluateStages(problem, {{0, 1}, {1, 1}, {1, 3}, {3, 4}});
  ASSERT_FALSE(bool(middle));
  EXPECT_EQ(middle.error().str(),
            "range 1-0 of a model with 4 layers\n  note: ranges have at least "
            "one layer; the last layer is 3");
}

/// Of all ways to lay `next` and the layers behind it over virtual stages from
/// `stage` on, the least time of the heaviest device.
static int64_t leastOf(const StagingProblem &problem, int64_t stage,
                       int64_t next, std::vector<int64_t> devices) {
  int64_t last = problem.stages * problem.interleave - 1;
  auto layers = static_cast<int64_t>(problem.layers.size());
  int64_t &own = devices[stage % problem.stages];
  own += stage == 0 ? problem.embedding.timePs : 0;
  if (stage == last) {
    for (int64_t i = next; i < layers; ++i)
      own += problem.layers[i].timePs;
    own += problem.head.timePs;
    return *std::max_element(devices.begin(), devices.end());
  }
  int64_t best = stage == 0 ? leastOf(problem, 1, next, devices) : INT64_MAX;
  for (int64_t i = next; i < layers; ++i) {
    own += problem.layers[i].timePs;
    best = std::min(best, leastOf(problem, stage + 1, i + 1, devices));
  }
  return best;
}

TEST(PartitionStages, EndsAloneAreAmongAllSplits) {
  std::mt19937 random(7);
  auto draw = [&](int64_t most) { return int64_t(random() % most); };
  for (int n = 0; n < 200; ++n) {
    int64_t stages = 3 + draw(2), interleave = 1 + draw(2);
    std::vector<int64_t> times(stages * interleave - 1 - draw(2));
    for (int64_t &time : times)
      time = 1 + draw(9);
    StagingProblem problem = problemOf(times, stages, interleave);
    problem.embedding.timePs = draw(20);
    problem.head.timePs = draw(20);
    Result<StagePartition> found = partitionStages(problem);
    ASSERT_TRUE(bool(found)) << n;
    EXPECT_TRUE(found->optimal()) << n;
    EXPECT_EQ(found->heaviestPs(),
              leastOf(problem, 0, 0, std::vector<int64_t>(stages)))
        << n;
    Result<StagePartition> again = evaluateStages(problem, found->ranges);
    ASSERT_TRUE(bool(again)) << n;
    EXPECT_EQ(again->heaviestPs(), found->heaviestPs());
    EXPECT_EQ(parseRanges(rangesText(found->ranges))->size(),
              found->ranges.size());
  }
}
