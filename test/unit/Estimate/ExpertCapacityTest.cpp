//===- ExpertCapacityTest.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::test;

/// 4 experts, of which each token chooses 2, on 2 devices.
static CostProgram limitedTo(double factor, bool padded = false,
                             const std::vector<double> &loads = {}) {
  CostProgram program = makeExperts(4, 4, loads);
  Dim batch = program.collectives[0].shape[0];
  ExpertCapacity capacity;
  capacity.millionths = ExpertCapacity::toMillionths(factor);
  capacity.padded = padded;
  capacity.experts = 4;
  capacity.topK = 2;
  capacity.tokens = {batch, program.collectives[0].shape[1]};
  capacity.tokens[1].extent.factor = 1;
  program.capacity = capacity;
  program.kernels[0].rows[0].limitedBy = 1;
  program.collectives[0].shape[1].limitedBy = 1;
  program.activations[0].shape[0].limitedBy = 1;
  if (program.placement) {
    auto placed = std::make_shared<PlacedExperts>(*program.placement);
    placed->limit = LoadLimit{factor, padded};
    program.placement = placed;
  }
  return program;
}

static Report price(const CostProgram &program, int64_t batch) {
  Result<Report> report = estimate(program, makePlan(2), makeMachine(),
                                   makeRuntime(), decode(batch, 64));
  EXPECT_TRUE(report) << report.error().str();
  return report ? *report : Report();
}

/// 3 launches of rows x 1024 x 512.
static Checked flopsOf(int64_t rows) {
  return Checked(3) * 2 * rows * 1024 * 512;
}

TEST(ExpertCapacity, EvenLoadsKeepWhatAllExpertsTake) {
  // 8 tokens of a rank are routed to 16: an expert takes ceil(8/4) = 2.
  Report report = price(limitedTo(0.5), 16);
  EXPECT_EQ(report.flops.total, flopsOf(16));
  EXPECT_EQ(report.flops.perDevice, flopsOf(8));
  EXPECT_EQ(report.communication.collectives[0].bytes, 8 * 1024 * 2);
  EXPECT_EQ(report.memory.perDevice.activationBytes, 8 * 1024 * 2);
}

TEST(ExpertCapacity, IsRoundedUp) {
  // 5 tokens, 10 routed, ceil(5/4) = 2 of each expert: 8 of 10 on a rank.
  EXPECT_EQ(price(limitedTo(0.5), 10).flops.total, flopsOf(16));
}

TEST(ExpertCapacity, PaddedExpertsWorkOnAllOfIt) {
  // ceil(1.25 * 16 / 4) = 5 of each of 4 experts, of each of 2 ranks.
  Report report = price(limitedTo(1.25, /*padded=*/true), 16);
  EXPECT_EQ(report.flops.total, flopsOf(40));
  EXPECT_EQ(report.flops.perDevice, flopsOf(20));
  EXPECT_EQ(report.memory.perDevice.activationBytes, 20 * 1024 * 2);
  Report hot = price(limitedTo(1.25, /*padded=*/true, {3, 1, 1, 1}), 16);
  EXPECT_EQ(hot.flops.perDevice, flopsOf(20));
  EXPECT_DOUBLE_EQ(hot.placement->worstImbalance(), 1);
}

TEST(ExpertCapacity, UnevenLoadsKeepTheirPartBelowIt) {
  // Of loads 3, 1, 1, 1 with the mean 1.5 there remain 1.5, 1, 1, 1: 3/4, of
  // which the hotter device has 2.5, 1.111112 times the mean.
  Report report = price(limitedTo(1, false, {3, 1, 1, 1}), 9);
  // ceil(18 * 0.75) = 14, ceil(14 * 1.111112 / 2) = 8.
  EXPECT_EQ(report.flops.total, flopsOf(14));
  EXPECT_EQ(report.flops.perDevice, flopsOf(8));
  EXPECT_DOUBLE_EQ(report.placement->worstImbalance(), 2.5 / 2.25);
}

TEST(ExpertCapacity, EnoughOfItChangesNothing) {
  const std::vector<double> none, hot = {3, 1, 1, 1};
  for (int64_t batch : {1, 9, 64})
    for (const auto &loads : {none, hot}) {
      // Without any, chance gives a rank more than the others.
      Report plain = price(limitedTo(1000, false, loads), batch);
      Report limited = price(limitedTo(2, false, loads), batch);
      EXPECT_EQ(limited.flops.perDevice, plain.flops.perDevice);
      EXPECT_EQ(limited.latency.stepTimeUs, plain.latency.stepTimeUs);
      EXPECT_EQ(limited.memory.perDevice.totalBytes,
                plain.memory.perDevice.totalBytes);
    }
}

TEST(ExpertCapacity, MoreOfItIsMoreWork) {
  for (const std::vector<double> &loads :
       {std::vector<double>(), std::vector<double>{3, 1, 1, 1}}) {
    Checked before = 0;
    for (double factor : {0.1, 0.3, 0.5, 0.9, 1.0, 1.3, 1.9, 2.0, 4.0}) {
      Checked flops = price(limitedTo(factor, false, loads), 64).flops.total;
      EXPECT_FALSE(flops < before) << factor;
      before = flops;
    }
  }
}
