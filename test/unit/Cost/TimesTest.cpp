//===- TimesTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/CollectiveTime.h"
#include "autopar/Cost/Roofline.h"
#include "autopar/Program/WireBytes.h"

#include "Fixtures.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::test;

TEST(SmoothMaximum, EqualsPowAtEachExponent) {
  for (double q : {1.0, 1.5, 2.0, 3.0, 4.0})
    for (double a : {0.0, 1e-3, 1.0, 3.0, 1e6})
      for (double b : {1e-6, 1.0, 2.5, 1e6}) {
        double expected = std::pow(std::pow(a, q) + std::pow(b, q), 1 / q);
        EXPECT_NEAR(*smoothMaximum(a, b, q) / expected, 1, 1e-12);
      }
}

TEST(SmoothMaximum, CountsByHand) {
  EXPECT_DOUBLE_EQ(*smoothMaximum(3, 4, 1), 7);
  EXPECT_DOUBLE_EQ(*smoothMaximum(3, 4, 2), 5);
  EXPECT_NEAR(*smoothMaximum(8, 8, 3), 8 * std::cbrt(2), 1e-12);
  EXPECT_DOUBLE_EQ(*smoothMaximum(3, 4, maximumExponent), 4);
  EXPECT_DOUBLE_EQ(*smoothMaximum(0, 0, 4), 0);
  // Fourth powers of these would overflow and vanish.
  EXPECT_DOUBLE_EQ(*smoothMaximum(1e200, 1e-200, 4), 1e200);
  EXPECT_FALSE(smoothMaximum(3, 4, 2.5));
}

TEST(WireBytes, CountsARing) {
  auto wire = [](CollectiveKind kind, int64_t n, int64_t bytes) {
    return *countWireBytes(kind, n, bytes).int64();
  };
  EXPECT_EQ(wire(CollectiveKind::all_reduce, 8, 33'554'432), 58'720'256);
  EXPECT_EQ(wire(CollectiveKind::all_reduce, 3, 10), 14);
  EXPECT_EQ(wire(CollectiveKind::all_gather, 8, 800), 700);
  EXPECT_EQ(wire(CollectiveKind::reduce_scatter, 3, 10), 7);
  EXPECT_EQ(wire(CollectiveKind::all_to_all, 2, 5), 3);
  EXPECT_EQ(wire(CollectiveKind::permute, 8, 5), 5);
}

static CollectiveCurve makeCurve(int first, std::vector<double> times) {
  return {first, std::move(times), {"measured", "test"}};
}

TEST(CollectiveCurve, InterpolatesInLogLog) {
  CollectiveCurve curve = makeCurve(10, {5, 5, 20});
  EXPECT_DOUBLE_EQ(interpolate(curve, 0), 5);
  EXPECT_DOUBLE_EQ(interpolate(curve, 100), 5);
  EXPECT_DOUBLE_EQ(interpolate(curve, 1024), 5);
  EXPECT_DOUBLE_EQ(interpolate(curve, 2048), 5);
  // Half way in log: the geometric mean.
  EXPECT_NEAR(interpolate(curve, 2048 * std::sqrt(2)), 10, 1e-9);
  EXPECT_NEAR(interpolate(curve, 4096), 20, 1e-9);
  EXPECT_NEAR(interpolate(curve, 3 * 4096), 60, 1e-9);
}

TEST(Network, FindsTheSmallestTier) {
  Machine machine = makeMachine(4);
  Network network(machine.pools[0], 32);
  EXPECT_EQ(network.tierOf({{1, 8}})->name, "scale_up");
  EXPECT_EQ(network.tierOf({{2, 4}})->name, "scale_up");
  EXPECT_EQ(network.tierOf({{1, 16}})->name, "scale_out");
  EXPECT_EQ(network.tierOf({{8, 4}})->name, "scale_out");
  EXPECT_EQ(network.tierOf({{8, 2}, {1, 2}})->name, "scale_out");
  // The second group of six lies on two nodes.
  EXPECT_EQ(Network(machine.pools[0], 30).tierOf({{1, 6}})->name, "scale_out");
  EXPECT_EQ(Network(machine.pools[0], 6).tierOf({{1, 6}})->name, "scale_up");
}

/// Stages of four devices: two on a node. Of three, every third one lies on two
/// nodes.
TEST(Network, TransfersOverTheSmallestTier) {
  Machine machine = makeMachine(4);
  Network network(machine.pools[0], 32);
  auto tier = [&](GroupAxis axis, int64_t from, int64_t to) {
    return network.transfer(axis, from, to, 1024, false).tier->name;
  };
  EXPECT_EQ(tier({4, 8}, 0, 1), "scale_up");
  EXPECT_EQ(tier({4, 8}, 1, 2), "scale_out");
  EXPECT_EQ(tier({4, 8}, 7, 0), "scale_out");
  EXPECT_EQ(tier({4, 2}, 1, 0), "scale_up");
  EXPECT_EQ(tier({16, 2}, 0, 1), "scale_out");
  EXPECT_EQ(tier({3, 8}, 0, 1), "scale_out");
  // The outermost axis begins with a node, whether or not it fills the last.
  EXPECT_EQ(
      Network(machine.pools[0], 12).transfer({4, 3}, 0, 1, 1, false).tier->name,
      "scale_up");
  EXPECT_EQ(
      Network(machine.pools[0], 12).transfer({4, 3}, 1, 2, 1, false).tier->name,
      "scale_out");
  EXPECT_EQ(network.transfer({4, 8}, 3, 3, 1024, false).tier, nullptr);
  EXPECT_EQ(network.transfer({4, 8}, 3, 3, 1024, false).timeUs, 0);
}

TEST(Network, PricesByLatencyAndBandwidth) {
  Machine machine = makeMachine();
  Network network(machine.pools[0], 8);
  CollectiveTime time =
      network.time(CollectiveKind::all_reduce, {{1, 8}}, 360e6, false);
  // Three hops of 3 us; 630 MB at 360 GB/s.
  EXPECT_NEAR(time.timeUs, 9 + 1750, 1e-6);
  EXPECT_NEAR(time.idealUs, 1400, 1e-6);
  EXPECT_TRUE(time.modelled);
  EXPECT_FALSE(time.hierarchical);
  time = network.time(CollectiveKind::all_reduce, {{1, 8}}, 360e6, true);
  EXPECT_NEAR(time.timeUs, 1400, 1e-6);
}

TEST(Network, UsesCurvesByGroupSize) {
  Machine machine = makeMachine();
  auto &curves = machine.pools[0].tiers[0].curves[CollectiveKind::all_gather];
  curves[2] = makeCurve(10, {4});
  curves[8] = makeCurve(10, {16});
  Network network(machine.pools[0], 8);
  auto time = [&](int64_t n) {
    return network.time(CollectiveKind::all_gather, {{1, n}}, 1024, false);
  };
  EXPECT_NEAR(time(2).timeUs, 4, 1e-9);
  EXPECT_FALSE(time(2).interpolated);
  EXPECT_NEAR(time(4).timeUs, 8, 1e-9);
  EXPECT_TRUE(time(4).interpolated);
  EXPECT_NEAR(time(8).timeUs, 16, 1e-9);
  curves.erase(2);
  // From eight to two: the wire bytes shrink from 7/8 to 1/2.
  EXPECT_NEAR(time(2).timeUs, 16 * 4 / 7., 1e-9);
}

TEST(Network, PricesGroupsAcrossNodesAsAHierarchy) {
  Machine machine = makeMachine(2);
  Network network(machine.pools[0], 16);
  double bytes = 360e6;
  CollectiveTime time =
      network.time(CollectiveKind::all_reduce, {{1, 16}}, bytes, false);
  EXPECT_TRUE(time.hierarchical);
  // Reduce-scatter and all-gather of 8, 315 MB at 360 GB/s each; between two
  // nodes an all-reduce of 45 MB at 25 GB/s.
  EXPECT_NEAR(time.timeUs, 2 * (9 + 875) + 10 + 1800, 1e-6);
  time = network.time(CollectiveKind::all_gather, {{1, 16}}, bytes, false);
  EXPECT_NEAR(time.timeUs, 9 + 875 + 10 + 900, 1e-6);
  time = network.time(CollectiveKind::all_to_all, {{1, 16}}, bytes, false);
  EXPECT_NEAR(time.timeUs, 9 + 875 + 10 + 7200, 1e-6);
  // One member in each node: nothing inside.
  time = network.time(CollectiveKind::all_gather, {{8, 2}}, bytes, false);
  EXPECT_FALSE(time.hierarchical);
  EXPECT_NEAR(time.timeUs, 10 + 7200, 1e-6);
}

TEST(Network, PricesAPermuteAsOneMessage) {
  Machine machine = makeMachine(2);
  Network network(machine.pools[0], 16);
  CollectiveTime time =
      network.time(CollectiveKind::permute, {{1, 8}}, 360e6, false);
  EXPECT_TRUE(time.modelled);
  EXPECT_NEAR(time.timeUs, 3 + 1000, 1e-6);
  time = network.time(CollectiveKind::permute, {{1, 16}}, 360e6, false);
  EXPECT_FALSE(time.hierarchical);
  EXPECT_NEAR(time.timeUs, 10 + 14400, 1e-6);
}

TEST(Network, SaysWhenNoTierJoinsAGroup) {
  Machine machine = makeMachine();
  machine.pools[0].tiers.clear();
  EXPECT_EQ(Network(machine.pools[0], 8).tierOf({{1, 8}}), nullptr);
}
