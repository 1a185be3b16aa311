//===- InFlightStagingTest.cpp - Stages that keep microbatches ------------===//
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

/// Time and memory of layers `begin` to `end` - 1 on `device`.
static LayerCost costOf(const StagingProblem &problem, int64_t device,
                        int64_t begin, int64_t end) {
  LayerCost sum;
  auto add = [&](const LayerCost &cost) {
    sum.timePs += cost.timePs;
    sum.memoryBytes +=
        cost.memoryBytes + problem.keptOn(device) * cost.savedBytes;
  };
  if (device == 0)
    add(problem.embedding);
  for (int64_t i = begin; i < end; ++i)
    add(problem.layers[i]);
  if (device + 1 == problem.stages)
    add(problem.head);
  return sum;
}

/// The least time of the heaviest device of any split from `device` on; nothing
/// where none fits.
static std::optional<Picoseconds> leastTime(const StagingProblem &problem,
                                            int64_t device, int64_t begin) {
  auto layers = static_cast<int64_t>(problem.layers.size());
  if (device == problem.stages)
    return begin == layers ? std::optional<Picoseconds>(0) : std::nullopt;
  std::optional<Picoseconds> best;
  for (int64_t end = begin + 1; end <= layers; ++end) {
    LayerCost own = costOf(problem, device, begin, end);
    if (own.memoryBytes > *problem.memoryLimitBytes)
      break;
    if (std::optional<Picoseconds> rest = leastTime(problem, device + 1, end)) {
      Picoseconds time = std::max(own.timePs, *rest);
      best = std::min(best.value_or(time), time);
    }
  }
  return best;
}

/// As all splits say that are tried one by one.
TEST(InFlightStaging, IsOptimal) {
  std::mt19937_64 random(11);
  auto upTo = [&](int64_t most) { return int64_t(random() % (most + 1)); };
  int fitting = 0, refused = 0;
  for (int round = 0; round < 1000; ++round) {
    StagingProblem problem;
    problem.stages = 1 + upTo(4);
    problem.inFlight = 1 + upTo(6);
    bool isEven = round % 2;
    LayerCost same{1 + upTo(9), upTo(9), upTo(9)};
    for (int64_t i = problem.stages + upTo(5); i > 0; --i)
      problem.layers.push_back(isEven ? same
                                      : LayerCost{upTo(9), upTo(9), upTo(9)});
    problem.embedding = {upTo(9), upTo(9), upTo(3)};
    problem.head = {upTo(9), upTo(9), upTo(3)};
    problem.memoryLimitBytes = 20 + upTo(200);
    std::optional<Picoseconds> expected = leastTime(problem, 0, 0);
    Result<StagePartition> found = partitionStages(problem);
    ASSERT_EQ(bool(found), expected.has_value()) << round;
    (found ? fitting : refused) += 1;
    if (!found)
      continue;
    EXPECT_EQ(found->heaviestPs(), *expected) << round;
    EXPECT_TRUE(found->optimal()) << round;
    for (int64_t d = 0; d < problem.stages; ++d) {
      const LayerRange &range = found->ranges[d];
      LayerCost own = costOf(problem, d, range.begin, range.end);
      EXPECT_EQ(found->devices[d].timePs, own.timePs);
      EXPECT_EQ(found->devices[d].memoryBytes, own.memoryBytes);
      EXPECT_LE(own.memoryBytes, *problem.memoryLimitBytes);
    }
  }
  EXPECT_GT(fitting, 200);
  EXPECT_GT(refused, 50);
}
