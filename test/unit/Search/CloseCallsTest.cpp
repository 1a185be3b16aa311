//===- CloseCallsTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/CloseCalls.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;

namespace {

struct CloseCallsTest : testing::Test {
  CloseCallsTest() {
    problem.targets.emplace_back();
    problem.targets[0].machine.pools.emplace_back();
    KernelCurve curve;
    curve.path = "chips.x.kernels.matmul.bf16";
    curve.medianError = 0.10;
    problem.targets[0].machine.pools[0].chip.kernels[KernelKind::matmul]
                                                    ["bf16"] = curve;
    result.rivals.push_back({{}, 0.98});
  }

  /// A step of 1,000 us, whose parts are so many microseconds of a curve's
  /// floor and memory efficiency, and of a link.
  static Report report(double floorUs, double memoryUs, double linkUs) {
    Report report;
    report.latency.stepTimeUs = 1000;
    auto add = [&](const char *path, double us) {
      Impact impact;
      impact.path = path;
      impact.more.stepTimeUs = us / 100;
      report.impacts.push_back(impact);
    };
    add("chips.x.kernels.matmul.bf16.floor", floorUs);
    add("chips.x.kernels.matmul.bf16.memory_efficiency", -memoryUs);
    add("systems.x.latency", linkUs);
    return report;
  }

  SearchProblem problem;
  SearchResult result;
};

} // namespace

/// Half of the best's time is of the curve and a quarter of the rival's: 1 / R
/// = (1 + x)^0.25, so that x = 0.98^-4 - 1.
TEST_F(CloseCallsTest, ACurveWithinItsErrorIsTooCloseToCall) {
  std::vector<CloseCall> calls =
      closeCallsOf(problem, result, report(100, 400, 0), {report(50, 200, 0)});
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].path, "chips.x.kernels.matmul.bf16");
  EXPECT_NEAR(calls[0].change, 0.0842, 1e-4);
  EXPECT_EQ(calls[0].error, 0.10);
  EXPECT_TRUE(calls[0].isClose());
}

/// The other way round it is the curve that must be faster: x = 0.98^4 - 1.
TEST_F(CloseCallsTest, WhatARivalHasMoreOfMustBeLess) {
  std::vector<CloseCall> calls =
      closeCallsOf(problem, result, report(50, 200, 0), {report(100, 400, 0)});
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_NEAR(calls[0].change, -0.0776, 1e-4);
}

TEST_F(CloseCallsTest, BeyondItsErrorItIsNot) {
  result.rivals[0].share = 0.96;
  std::vector<CloseCall> calls =
      closeCallsOf(problem, result, report(100, 400, 0), {report(50, 200, 0)});
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_NEAR(calls[0].change, 0.1774, 1e-4);
  EXPECT_FALSE(calls[0].isClose());
}

/// A figure without an error goes first only where no error decides.
TEST_F(CloseCallsTest, ErrorsThatDecideGoFirst) {
  Report best = report(100, 400, 900), rival = report(50, 200, 0);
  EXPECT_EQ(closeCallsOf(problem, result, best, {rival})[0].path,
            "chips.x.kernels.matmul.bf16");
  result.rivals[0].share = 0.96;
  EXPECT_EQ(closeCallsOf(problem, result, best, {rival})[0].path,
            "systems.x.latency");
}

TEST_F(CloseCallsTest, PlansThatRestOnFiguresAlikeHaveNone) {
  EXPECT_TRUE(
      closeCallsOf(problem, result, report(100, 400, 0), {report(100, 400, 0)})
          .empty());
  EXPECT_TRUE(
      closeCallsOf(problem, result, report(1, 4, 0), {std::nullopt}).empty());
}
