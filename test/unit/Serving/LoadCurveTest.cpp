//===- LoadCurveTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include "autopar/Serving/LoadCurve.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::serving;

namespace {

struct LoadCurveTest : test::ServingTest {
  LoadCurveTest() { server.lay(test::makeLayout(8), /*replicas=*/1); }

  LoadPoint at(ServedLoad load) {
    load.hasSpread = true;
    load.promptTokens = 2000;
    load.answerTokens = 300;
    LoadPoint point{load, {}};
    EXPECT_FALSE(server.timesOf(load, point.state));
    return point;
  }
  LoadPoint open(double ratePerS, ServiceLimits limits = {}) {
    ServedLoad load;
    load.concurrency = 0;
    load.ratePerS = ratePerS;
    load.limits = limits;
    return at(load);
  }
  LoadPoint closed(int64_t concurrency, ServiceLimits limits = {}) {
    ServedLoad load;
    load.concurrency = concurrency;
    load.limits = limits;
    return at(load);
  }
  LoadCurve curveOf(const LoadPoint &asked) {
    LoadCurve curve;
    EXPECT_FALSE(server.findCurve(asked, curve));
    return curve;
  }

  QueueModel server{program, machine, runtime};
};

TEST_F(LoadCurveTest, AskedLoadIsOneOfThePoints) {
  LoadPoint asked = open(1.5);
  LoadCurve curve = curveOf(asked);
  ASSERT_TRUE(curve.asked);
  EXPECT_EQ(curve.points[*curve.asked].load.ratePerS, 1.5);
  EXPECT_EQ(curve.points[*curve.asked].state.tpotUs, asked.state.tpotUs);
  EXPECT_EQ(curve.points.size(), 12u);
  EXPECT_NEAR(curve.points.back().load.ratePerS, 0.95 * asked.state.mostPerS,
              1e-9);
  // Beyond what is served it lies on no curve.
  EXPECT_FALSE(curveOf(open(10 * asked.state.mostPerS)).asked);
  // A point of the curve is not there twice.
  EXPECT_EQ(curveOf(open(0.5 * asked.state.mostPerS)).points.size(), 11u);
}

TEST_F(LoadCurveTest, KneeHasMostPower) {
  LoadCurve curve = curveOf(open(1));
  auto power = [](const LoadPoint &point) {
    return point.state.outputTokensPerSecond / point.requestUs();
  };
  for (const LoadPoint &point : curve.points)
    EXPECT_LE(power(point), power(curve.points[curve.knee]));
}

/// One request more, or a thousandth more of a rate, is beyond the limits.
TEST_F(LoadCurveTest, MostWithinLimitsIsTheMost) {
  ServiceLimits limits{std::nullopt, 25e3};
  LoadCurve curve = curveOf(closed(4, limits));
  ASSERT_TRUE(curve.mostWithinLimits);
  int64_t most = curve.mostWithinLimits->load.concurrency;
  EXPECT_GE(closed(most, limits).state.shareWithinLimits,
            LoadCurve::attainment);
  EXPECT_LT(closed(most + 1, limits).state.shareWithinLimits,
            LoadCurve::attainment);

  LoadCurve ofRates = curveOf(open(1, limits));
  ASSERT_TRUE(ofRates.mostWithinLimits);
  double rate = ofRates.mostWithinLimits->load.ratePerS;
  EXPECT_GE(open(rate, limits).state.shareWithinLimits, LoadCurve::attainment);
  EXPECT_LT(open(1.001 * rate, limits).state.shareWithinLimits,
            LoadCurve::attainment);
}

TEST_F(LoadCurveTest, LimitsMayBeOutOfReach) {
  EXPECT_FALSE(curveOf(open(1, {1.0, std::nullopt})).mostWithinLimits);
  EXPECT_FALSE(curveOf(open(1)).mostWithinLimits);
  // All loads are within these.
  LoadCurve all = curveOf(closed(4, {1e12, 1e12}));
  ASSERT_TRUE(all.mostWithinLimits);
  EXPECT_EQ(all.mostWithinLimits->load.concurrency,
            all.points.back().load.concurrency);
}

} // namespace
