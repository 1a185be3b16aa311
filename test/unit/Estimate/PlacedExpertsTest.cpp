//===- PlacedExpertsTest.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include "autopar/Placement/Synthetic.h"
#include "autopar/Write/Json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::estimation;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::test;
using namespace autopar::writing;
using nlohmann::json;

static Report price(const CostProgram &program, int64_t devices,
                    const Workload &workload) {
  Result<Report> report = estimate(program, makePlan(devices), makeMachine(),
                                   makeRuntime(), workload);
  EXPECT_TRUE(report) << report.error().str();
  return report ? *report : Report();
}

/// The report without what it says of the placement.
static json countsOf(const Report &report) {
  json root = json::parse(writeJson(report));
  root.erase("placement");
  root.erase("assumptions");
  return root;
}

/// On one device; on several, loads that nobody gave are even in the mean
/// alone.
TEST(PlacedExperts, EvenLoadsChangeNothing) {
  for (int64_t experts : {8, 24, 56})
    for (int64_t batchSize : {1, 3, 100}) {
      Workload workload = decode(batchSize, 64);
      std::vector<double> loads(experts, 1.0 / experts);
      CostProgram open = makeExperts(experts, experts),
                  given = makeExperts(experts, experts, loads);
      EXPECT_EQ(countsOf(price(open, 1, workload)),
                countsOf(price(given, 1, workload)))
          << experts;
      for (int64_t devices : {2, 4, 8})
        EXPECT_GE(price(open, devices, workload).flops.perDevice,
                  price(given, devices, workload).flops.perDevice)
            << experts << " on " << devices;
    }
}

TEST(PlacedExperts, RowsAreThoseOfTheHottestDevice) {
  // Devices have 3 + 1 and 1 + 1 of 6: the hottest 4/3 of the mean.
  Workload workload = decode(9, 64);
  Report even = price(makeExperts(4, 4, {1, 1, 1, 1}), 2, workload);
  Report hot = price(makeExperts(4, 4, {3, 1, 1, 1}), 2, workload);
  EXPECT_EQ(even.flops.total, hot.flops.total);
  // 18 rows on 2 devices are 9, of which chance gives one 10, times 1.333334
  // are 13.
  EXPECT_EQ(even.flops.perDevice, Checked(3) * 2 * 10 * 1024 * 512);
  EXPECT_EQ(hot.flops.perDevice, Checked(3) * 2 * 13 * 1024 * 512);
  EXPECT_EQ(hot.memory.perDevice.activationBytes, 13 * 1024 * 2);
  // 5 sequences of 2 x 1024 on a device.
  EXPECT_EQ(even.communication.collectives[0].bytes, 5 * 2 * 1024 * 2);
  EXPECT_EQ(hot.communication.collectives[0].bytes,
            2 * ((5 * 2 * 1024 * 1'333'334LL + 999'999) / 1'000'000));
  EXPECT_EQ(hot.memory.perDevice.weightBytes,
            even.memory.perDevice.weightBytes);
  ASSERT_TRUE(hot.placement);
  EXPECT_DOUBLE_EQ(hot.placement->worstImbalance(), 4.0 / 3);
  EXPECT_DOUBLE_EQ(even.placement->worstImbalance(), 1);
}

/// Work is that of the mean layer, temporaries that of the worst.
TEST(PlacedExperts, OneLayerAtATimeHasTemporaries) {
  CostProgram program = makeExperts(4, 4, {3, 1, 1, 1});
  auto placed = std::make_shared<PlacedExperts>(*program.placement);
  placed->layers.push_back(placed->layers.front());
  placed->layers.back().loads = {1, {1, 1, 1, 1}};
  program.placement = placed;
  Report report = price(program, 2, decode(9, 64));
  // 18 rows on 2 devices: 9 * (4/3 + 1)/2 = 10.5, and 9 * 4/3 = 12, of
  // millionths that are rounded up.
  EXPECT_EQ(report.flops.perDevice, Checked(3) * 2 * 11 * 1024 * 512);
  EXPECT_EQ(report.memory.perDevice.activationBytes, 13 * 1024 * 2);
}

TEST(PlacedExperts, RedundantSlotsTakeMemoryAndNoFlops) {
  Workload workload = decode(64, 64);
  std::vector<double> loads(8, 1);
  Report plain = price(makeExperts(8, 8, loads), 4, workload);
  Report padded = price(makeExperts(8, 12, loads), 4, workload);
  EXPECT_EQ(plain.mesh.expertsPerDevice, 2);
  EXPECT_EQ(padded.mesh.expertsPerDevice, 3);
  EXPECT_EQ(padded.memory.perDevice.weightBytes * 2,
            plain.memory.perDevice.weightBytes * 3);
  EXPECT_EQ(plain.flops.total, padded.flops.total);
  EXPECT_EQ(plain.model.parameters, padded.model.parameters);
  EXPECT_EQ(plain.model.activeParameters, padded.model.activeParameters);
}

/// The hottest rank may only get hotter: all that it waits for grows.
TEST(PlacedExperts, HotterLoadsAreNeverFaster) {
  RandomNumbers random(7);
  for (int round = 0; round < 200; ++round) {
    int64_t devices = int64_t(1) << random.below(4);
    std::vector<double> loads(16);
    for (double &load : loads)
      load = static_cast<double>(random.below(1000));
    Workload workload = round % 2
                            ? decode(1 + random.below(500), 64)
                            : prefill(1 + random.below(4), 1 + random.below(9));
    Report cool = price(makeExperts(16, 16, loads), devices, workload);
    // What the other ranks lose, the hottest gets.
    const LayerPlacement &layer = cool.placement->layers[0];
    auto hottest =
        std::max_element(layer.rankTokens.begin(), layer.rankTokens.end()) -
        layer.rankTokens.begin();
    int64_t each = 16 / devices, to = hottest * each;
    for (int64_t e = 0; e < 16; ++e)
      if (e / each != hottest) {
        loads[to] += loads[e] / 2;
        loads[e] /= 2;
      }
    Report hot = price(makeExperts(16, 16, loads), devices, workload);
    EXPECT_GE(hot.placement->worstImbalance(),
              cool.placement->worstImbalance() - 1e-9);
    EXPECT_GE(hot.latency.stepTimeUs, cool.latency.stepTimeUs) << round;
    EXPECT_GE(hot.memory.perDevice.totalBytes,
              cool.memory.perDevice.totalBytes);
    EXPECT_GE(hot.communication.bytesPerDevice,
              cool.communication.bytesPerDevice);
    EXPECT_EQ(hot.flops.total, cool.flops.total);
  }
}

TEST(PlacedExperts, SlotsMustLieOnTheDevices) {
  Result<Report> report =
      estimate(makeExperts(6, 6, {1, 1, 1, 1, 1, 1}), makePlan(4),
               makeMachine(), makeRuntime(), decode(8, 64));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "6 slots of experts do not lie on tp = 4 devices");
  EXPECT_EQ(report.error().note, "sizes that work: 1, 2, 3, 6");
}
