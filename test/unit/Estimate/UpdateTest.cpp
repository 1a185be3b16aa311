//===- UpdateTest.cpp - Copies of gradients, by hand ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/TrainingFixtures.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::test;

/// Of 8 products of 1024 x 4096, a table and a head of 32000 x 1024 each.
static constexpr int64_t table = 32000 * 1024,
                         parameters = 8 * 1024 * 4096 + 2 * table;

static Runtime makeCopier() {
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  runtime.training->reductionBucket.value = 20e6;
  runtime.training->copiesGradients.value = 1;
  return runtime;
}

static CostProgram makeProgram(ElementType gradients) {
  CostProgram program = makeTrained();
  for (Resident &resident : program.residents)
    if (resident.kind == Resident::Kind::gradient)
      resident.type = gradients;
  return program;
}

static Report trained(const Plan &plan, const Runtime &runtime,
                      ElementType gradients) {
  Result<Report> report = estimate(makeProgram(gradients), plan, makeMachine(8),
                                   runtime, train(16, 512), {});
  EXPECT_TRUE(report) << (report ? "" : report.error().str());
  return report ? *report : Report();
}

static int64_t updateBytes(const Report &report) {
  return report.memory.perDevice.updateBytes;
}

TEST(Update, GradientsAsNarrowAsWeights) {
  // The table is more than a bucket. Its copies for norms are not handed out
  // for what is flat and wide: that is larger.
  Report whole =
      trained(makeTrainingPlan(1, 1, 1, 4), makeCopier(), ElementType::bf16);
  EXPECT_EQ(updateBytes(whole),
            2 * table + 4 * table + 8 * table + 4 * parameters);
  // A quarter of all is less than the table, and its flat copies fit.
  Report split =
      trained(makeTrainingPlan(1, 4, 1, 4), makeCopier(), ElementType::bf16);
  EXPECT_EQ(updateBytes(split), 2 * table + (4 + 8) * parameters / 4);
}

TEST(Update, SmallCopiesFitIntoTheBucket) {
  Runtime runtime = makeCopier();
  runtime.training->reductionBucket.value = parameters;
  // Of an eighth, norms in 8 B and flat copies are less than 2 B of all.
  Plan plan = makeTrainingPlan(1, 8, 1, 2);
  Report report = trained(plan, runtime, ElementType::bf16);
  EXPECT_EQ(updateBytes(report), 2 * parameters);
}

TEST(Update, WiderGradientsAreCastTwice) {
  Report report =
      trained(makeTrainingPlan(1, 4, 1, 4), makeCopier(), ElementType::f32);
  EXPECT_EQ(updateBytes(report), (2 + 2) * parameters);
}

TEST(Update, NothingIsCopiedUnlessTheRuntimeDoes) {
  Runtime runtime = makeCopier();
  runtime.training->copiesGradients.value = 0;
  Plan plan = makeTrainingPlan(1, 4, 1, 4);
  EXPECT_EQ(updateBytes(trained(plan, runtime, ElementType::bf16)), 2 * table);
  runtime.training->reductionBucket.value = 0;
  EXPECT_EQ(updateBytes(trained(plan, runtime, ElementType::bf16)), 0);
  runtime.training.reset();
  EXPECT_EQ(updateBytes(trained(plan, runtime, ElementType::bf16)), 0);
}

/// An allocator that runs short puts copies where saved values were.
TEST(Update, ShortMemoryIsReused) {
  Plan plan = makeTrainingPlan(1, 4, 1, 4);
  Report roomy = trained(plan, makeCopier(), ElementType::bf16);
  const Report::DeviceMemory &all = roomy.memory.perDevice;
  EXPECT_EQ(all.reusedBytes, 0);
  Runtime tight = makeCopier();
  auto leave = [&](int64_t bytes) {
    tight.memoryUtilization.value = double(bytes) / double(all.capacityBytes);
    return trained(plan, tight, ElementType::bf16).memory.perDevice;
  };
  int64_t passes = all.savedBytes + all.activationBytes;
  ASSERT_LT(passes, all.updateBytes);
  Report::DeviceMemory half = leave(all.totalBytes - passes / 2);
  EXPECT_TRUE(half.fits);
  EXPECT_EQ(half.totalBytes, half.budgetBytes);
  Report::DeviceMemory none = leave(all.totalBytes - 2 * passes);
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.reusedBytes, passes);
  EXPECT_EQ(none.totalBytes, all.totalBytes - passes);
}

/// Of stages, all but the last keep what they hand on: 4 sequences of 512
/// tokens and 1,024 channels.
TEST(Update, OutputsAreKeptUntilTheirBackward) {
  Plan plan = makeTrainingPlan(4, 1, 1, 4);
  Runtime runtime = makeCopier();
  Report freed = trained(plan, runtime, ElementType::bf16);
  runtime.training->keepsOutputs.value = 1;
  Report kept = trained(plan, runtime, ElementType::bf16);
  int64_t output = 4 * 512 * 1024 * 2;
  for (int64_t stage = 0; stage < 4; ++stage) {
    int64_t inFlight = stage == 3 ? 0 : 4 - stage;
    EXPECT_EQ(kept.memory.perStage[stage].savedBytes,
              freed.memory.perStage[stage].savedBytes + inFlight * output);
  }
  const auto &alive = kept.training->alive;
  EXPECT_TRUE(std::any_of(alive.begin(), alive.end(), [&](const auto &saved) {
    return saved.name == "output" && saved.bytes == output && saved.count == 4;
  }));
}
