//===- SimulatedServiceTest.cpp -------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/SimulatedService.h"

#include "autopar/Serving/Simulation.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::serving;

namespace {

TEST(MeasuredTimes, QuantilesAreNearestRanks) {
  std::vector<double> times;
  for (int i = 100; i >= 1; --i)
    times.push_back(i);
  MeasuredTimes measured = MeasuredTimes::of(times);
  EXPECT_DOUBLE_EQ(measured.mean, 50.5);
  EXPECT_EQ(measured.at.p50, 50);
  EXPECT_EQ(measured.at.p90, 90);
  EXPECT_EQ(measured.at.p95, 95);
  EXPECT_EQ(measured.at.p99, 99);
  EXPECT_EQ(MeasuredTimes::of({7}).at.p50, 7);
  EXPECT_EQ(MeasuredTimes::of({}).mean, 0);
}

/// Four requests, a second apart, of which the first is not counted.
SimulatedRun makeRun() {
  SimulatedRun run;
  auto add = [&](double arrivalS, double firstS, double endS, int64_t tokens) {
    run.load.requests.push_back({arrivalS * 1e6, 10, tokens});
    ServedRequest served;
    served.arrivalUs = arrivalS * 1e6;
    served.madeUs = served.firstTokenUs = firstS * 1e6;
    served.endUs = endS * 1e6;
    run.result.requests.push_back(served);
    run.result.endUs = std::max(run.result.endUs, served.endUs);
  };
  add(0, 0.5, 1.5, 11);
  add(1, 1.2, 2.2, 11);
  add(2, 2.4, 2.4, 1);
  add(3, 3.6, 5.6, 21);
  run.result.requests[1].evictions = 2;
  run.result.steps = 42;
  return run;
}

TEST(SimulatedService, SumsUpByHand) {
  SimulatedRun run = makeRun();
  SimulatedService service =
      summarize(run, {500e3, 150e3}, /*first=*/1, /*end=*/4);
  EXPECT_EQ(service.requests, 4);
  EXPECT_EQ(service.counted, 3);
  EXPECT_EQ(service.steps, 42);
  EXPECT_EQ(service.evictions, 2);
  EXPECT_DOUBLE_EQ(service.seconds, 5.6);
  EXPECT_NEAR(service.ttft.mean, 400e3, 1e-6);
  // One token has no time from token to token.
  EXPECT_NEAR(service.tpot.mean, 100e3, 1e-6);
  EXPECT_NEAR(service.request.mean, (1.2 + 0.4 + 2.6) / 3 * 1e6, 1e-6);
  // The last is 600 ms late.
  EXPECT_DOUBLE_EQ(service.shareWithinLimits, 2.0 / 3);
  // Three end from 1 s to 3 s, with 11 + 11 + 1 tokens.
  EXPECT_DOUBLE_EQ(service.requestsPerS, 1.5);
  EXPECT_DOUBLE_EQ(service.outputTokensPerS, 11.5);
}

TEST(SimulatedService, NothingIsLateWithoutLimits) {
  EXPECT_EQ(summarize(makeRun(), {}, 0, 4).shareWithinLimits, 1);
  EXPECT_DOUBLE_EQ(
      summarize(makeRun(), {std::nullopt, 99e3}, 0, 4).shareWithinLimits, 0.25);
}

} // namespace
