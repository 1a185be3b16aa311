//===- RouteTest.cpp - Collectives over the links of a machine ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Route.h"
#include "autopar/Cost/ExpertNodes.h"
#include "autopar/Hardware/Algorithm.h"

#include "Fixtures.h"
#include "Run.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::test;

TEST(Algorithm, RulesAreInTheOrderOfKinds) {
  for (CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather,
        CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
        CollectiveKind::permute, CollectiveKind::ring})
    EXPECT_EQ(ruleOf(kind).kind, kind) << nameOf(kind).data();
}

/// What formulas compute is what explanations say.
TEST(Algorithm, SaysWhatItComputes) {
  Algorithm algorithm = ruleOf(CollectiveKind::all_reduce);
  EXPECT_EQ(sentText(algorithm, "n"), "2 * (n - 1) / n");
  EXPECT_DOUBLE_EQ(sentBytes(algorithm, 8, 100), 2 * 7 / 8. * 100);
  EXPECT_EQ(latencyText(algorithm, "n"), "latency * ceil(log2(n))");
  EXPECT_EQ(hopsOf(algorithm, 9), 4);
  algorithm.sent = Algorithm::Sent::to_each;
  algorithm.hops = Algorithm::Hops::others;
  EXPECT_EQ(sentText(algorithm, "n"), "2 * (n - 1)");
  EXPECT_DOUBLE_EQ(sentBytes(algorithm, 8, 100), 2 * 7 * 100);
  EXPECT_EQ(latencyText(algorithm, "n"), "latency * (n - 1)");
  EXPECT_EQ(hopsOf(algorithm, 9), 8);
  algorithm.sent = Algorithm::Sent::all;
  algorithm.hops = Algorithm::Hops::one;
  EXPECT_EQ(sentText(algorithm, "n"), "2");
  EXPECT_DOUBLE_EQ(sentBytes(algorithm, 8, 100), 200);
  EXPECT_EQ(latencyText(algorithm, "n"), "latency");
  EXPECT_EQ(hopsOf(algorithm, 9), 1);
  EXPECT_EQ(sentText(ruleOf(CollectiveKind::permute), "n"), "");
}

TEST(WireBytes, CountsARing) {
  EXPECT_DOUBLE_EQ(wireBytes(CollectiveKind::all_reduce, 8, 33'554'432),
                   58'720'256);
  EXPECT_NEAR(wireBytes(CollectiveKind::all_reduce, 3, 10), 40 / 3., 1e-12);
  EXPECT_DOUBLE_EQ(wireBytes(CollectiveKind::all_gather, 8, 800), 700);
  EXPECT_NEAR(wireBytes(CollectiveKind::reduce_scatter, 3, 10), 20 / 3., 1e-12);
  EXPECT_DOUBLE_EQ(wireBytes(CollectiveKind::all_to_all, 2, 5), 2.5);
  EXPECT_DOUBLE_EQ(wireBytes(CollectiveKind::permute, 8, 5), 5);
}

static CollectiveCurve makeCurve(int first, std::vector<double> times) {
  return {first, std::move(times), {"measured", "test"}};
}

TEST(CollectiveCurve, InterpolatesInLogLog) {
  Machine machine = makeMachine();
  auto &curves = machine.pools[0].tiers[0].curves[CollectiveKind::all_reduce];
  curves[8] = makeCurve(10, {5, 5, 20});
  Route route = Network(machine.pools[0], 8)
                    .route(CollectiveKind::all_reduce, {{1, 8}}, false);
  EXPECT_DOUBLE_EQ(timeOf(route, 0), 5);
  EXPECT_DOUBLE_EQ(timeOf(route, 100), 5);
  EXPECT_DOUBLE_EQ(timeOf(route, 1024), 5);
  EXPECT_DOUBLE_EQ(timeOf(route, 2048), 5);
  // Half way in log: the geometric mean.
  EXPECT_NEAR(timeOf(route, 2048 * std::sqrt(2)), 10, 1e-9);
  EXPECT_NEAR(timeOf(route, 4096), 20, 1e-9);
  EXPECT_NEAR(timeOf(route, 3 * 4096), 60, 1e-9);
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
    return network.transfer(axis, from, to, false).tier->name;
  };
  EXPECT_EQ(tier({4, 8}, 0, 1), "scale_up");
  EXPECT_EQ(tier({4, 8}, 1, 2), "scale_out");
  EXPECT_EQ(tier({4, 8}, 7, 0), "scale_out");
  EXPECT_EQ(tier({4, 2}, 1, 0), "scale_up");
  EXPECT_EQ(tier({16, 2}, 0, 1), "scale_out");
  EXPECT_EQ(tier({3, 8}, 0, 1), "scale_out");
  // The outermost axis begins with a node, whether or not it fills the last.
  Network twelve(machine.pools[0], 12);
  EXPECT_EQ(twelve.transfer({4, 3}, 0, 1, false).tier->name, "scale_up");
  EXPECT_EQ(twelve.transfer({4, 3}, 1, 2, false).tier->name, "scale_out");
  Route none = network.transfer({4, 8}, 3, 3, false);
  EXPECT_EQ(none.tier, nullptr);
  EXPECT_EQ(timeOf(none, 1024), 0);
}

/// 180 MB each way: on a node behind one hop of 3 us at 360 GB/s, between nodes
/// behind 10 us at 25 GB/s.
TEST(Network, JoinsTwoPositionsOfAnAxis) {
  Machine machine = makeMachine(4);
  Network network(machine.pools[0], 32);
  auto time = [&](int64_t from, int64_t to) {
    return timeOf(network.join(CollectiveKind::all_reduce, {2, 8}, from, to,
                               /*ideal=*/false),
                  180e6);
  };
  EXPECT_NEAR(time(0, 3), 3 + 500, 1e-6);
  EXPECT_NEAR(time(0, 7), 10 + 7200, 1e-6);
  EXPECT_EQ(network.join(CollectiveKind::all_reduce, {2, 1}, 0, 0, false).tier,
            nullptr);
}

TEST(Network, PricesByLatencyAndBandwidth) {
  Machine machine = makeMachine();
  Network network(machine.pools[0], 8);
  Route route = network.route(CollectiveKind::all_reduce, {{1, 8}}, false);
  // Three hops of 3 us; 630 MB at 360 GB/s.
  EXPECT_NEAR(timeOf(route, 360e6), 9 + 1750, 1e-6);
  EXPECT_NEAR(boundOf(route, 360e6), 1400, 1e-6);
  EXPECT_TRUE(route.modelled);
  EXPECT_FALSE(route.hierarchical);
  route = network.route(CollectiveKind::all_reduce, {{1, 8}}, true);
  EXPECT_NEAR(timeOf(route, 360e6), 1400, 1e-6);
}

/// Eight devices, 3 us a hop, 360 GB/s. A tree takes 9 us + 1.75 of the bytes,
/// messages of all to each 3 us + 7 of them: as much at 411,429 bytes.
TEST(Network, TakesTheFastestAlgorithmForTheBytes) {
  Machine machine = makeMachine();
  machine.pools[0].tiers[0].algorithms = {
      {"one-shot", CollectiveKind::all_reduce, Algorithm::Sent::to_each, 1,
       Algorithm::Hops::one, Algorithm::Tiers::in_turn, "test"},
      {"idle", CollectiveKind::all_gather, Algorithm::Sent::all, 1,
       Algorithm::Hops::one, Algorithm::Tiers::in_turn, "test"}};
  Network network(machine.pools[0], 8);
  Route route = network.route(CollectiveKind::all_reduce, {{1, 8}}, false);
  ASSERT_EQ(route.levels.size(), 1u);
  ASSERT_EQ(route.levels[0].choices.size(), 2u);
  EXPECT_DOUBLE_EQ(timeOf(route, 0), 3);
  EXPECT_NEAR(timeOf(route, 360e3), 3 + 7, 1e-9);
  EXPECT_NEAR(timeOf(route, 720e3), 9 + 3.5, 1e-9);
  auto picked = [&](double bytes) {
    return cheapest(route.levels[0], bytes).algorithm->name;
  };
  EXPECT_EQ(picked(411e3), "one-shot");
  EXPECT_EQ(picked(412e3), "tree");
  // At full bandwidth, 450 GB/s, nothing is below the bytes of the rule.
  EXPECT_NEAR(boundOf(route, 720e3), 2.8, 1e-9);
  // Steps inside nodes and across them pick for themselves.
  Machine two = makeMachine(2);
  two.pools[0].tiers[1].algorithms = machine.pools[0].tiers[0].algorithms;
  GroupLayout all = {{1, 16}};
  Network wide(two.pools[0], 16);
  EXPECT_EQ(wide.route(CollectiveKind::all_reduce, all, false)
                .levels.back()
                .choices.size(),
            2u);
}

TEST(Network, UsesCurvesByGroupSize) {
  Machine machine = makeMachine();
  auto &curves = machine.pools[0].tiers[0].curves[CollectiveKind::all_gather];
  curves[2] = makeCurve(10, {4});
  curves[8] = makeCurve(10, {16});
  Network network(machine.pools[0], 8);
  auto routeOver = [&](int64_t n) {
    return network.route(CollectiveKind::all_gather, {{1, n}}, false);
  };
  auto time = [&](int64_t n) { return timeOf(routeOver(n), 1024); };
  EXPECT_NEAR(time(2), 4, 1e-9);
  EXPECT_FALSE(routeOver(2).interpolated);
  EXPECT_NEAR(time(4), 8, 1e-9);
  EXPECT_TRUE(routeOver(4).interpolated);
  EXPECT_NEAR(time(8), 16, 1e-9);
  curves.erase(2);
  // From eight to two: the wire bytes shrink from 7/8 to 1/2.
  EXPECT_NEAR(time(2), 16 * 4 / 7., 1e-9);
}

/// Inside a node as measured, beyond it by latency and bandwidth.
TEST(Network, AddsMeasuredAndModelledLevels) {
  Machine machine = makeMachine(2);
  Pool &pool = machine.pools[0];
  pool.tiers[0].curves[CollectiveKind::all_gather][8] =
      makeCurve(10, {4, 6, 9});
  Route route =
      Network(pool, 16).route(CollectiveKind::all_gather, {{1, 16}}, false);
  EXPECT_TRUE(route.hierarchical);
  Route inside =
      Network(pool, 8).route(CollectiveKind::all_gather, {{1, 8}}, false);
  // Between two nodes an eighth of the bytes, half of them on the wire.
  for (double bytes : {1000.0, 3000.0, 1e6})
    EXPECT_NEAR(timeOf(route, bytes),
                timeOf(inside, bytes) + 10 + bytes / 8 / 2 / 25e9 * 1e6, 1e-9);
}

TEST(Network, PricesGroupsAcrossNodesAsAHierarchy) {
  Machine machine = makeMachine(2);
  Network network(machine.pools[0], 16);
  auto routeOver = [&](CollectiveKind kind, const GroupLayout &layout) {
    return network.route(kind, layout, false);
  };
  double bytes = 360e6;
  Route route = routeOver(CollectiveKind::all_reduce, {{1, 16}});
  EXPECT_TRUE(route.hierarchical);
  // Reduce-scatter and all-gather of 8, 315 MB at 360 GB/s each; between two
  // nodes an all-reduce of 45 MB at 25 GB/s.
  EXPECT_NEAR(timeOf(route, bytes), 2 * (9 + 875) + 10 + 1800, 1e-6);
  route = routeOver(CollectiveKind::all_gather, {{1, 16}});
  EXPECT_NEAR(timeOf(route, bytes), 9 + 875 + 10 + 900, 1e-6);
  // One member in each node: nothing inside.
  route = routeOver(CollectiveKind::all_gather, {{8, 2}});
  EXPECT_FALSE(route.hierarchical);
  EXPECT_NEAR(timeOf(route, bytes), 10 + 7200, 1e-6);
}

/// 32 devices in 4 nodes: 24/32 of the bytes leave, 7/32 stay inside, and what
/// a device has for itself does not move.
TEST(Network, AllToAllMovesBytesOnTheTierTheyNeed) {
  Machine machine = makeMachine(4);
  Network network(machine.pools[0], 32);
  double bytes = 360e6;
  Route route = network.route(CollectiveKind::all_to_all, {{1, 32}}, false);
  EXPECT_TRUE(route.hierarchical && route.overlaps);
  ASSERT_EQ(route.levels.size(), 2u);
  EXPECT_DOUBLE_EQ(route.levels[0].wirePerByte, 7 / 32.);
  EXPECT_DOUBLE_EQ(route.levels[1].wirePerByte, 24 / 32.);
  // 270 MB at 25 GB/s after two hops; 79 MB at 360 GB/s beside it.
  EXPECT_NEAR(timeOf(route, bytes), 2 * 10 + 10800, 1e-6);
  EXPECT_NEAR(boundOf(route, bytes), 5400, 1e-6);
  // Few bytes: the latency of the slow link.
  EXPECT_NEAR(timeOf(route, 0), 20, 1e-9);
  // A link that is slower inside than outside counts alone.
  machine.pools[0].tiers[0].efficiency.value = 0.001;
  route = network.route(CollectiveKind::all_to_all, {{1, 32}}, false);
  EXPECT_NEAR(timeOf(route, bytes), 9 + 7 / 32. * 800e3, 1e-6);
}

/// Every fourth device of 8 nodes: two of a node.
TEST(Network, AllToAllOfAxesThatAreNotInnermost) {
  Machine machine = makeMachine(8);
  Network network(machine.pools[0], 64);
  Route route = network.route(CollectiveKind::all_to_all, {{4, 16}}, false);
  ASSERT_EQ(route.levels.size(), 2u);
  EXPECT_DOUBLE_EQ(route.levels[0].wirePerByte, 1 / 16.);
  EXPECT_DOUBLE_EQ(route.levels[1].wirePerByte, 14 / 16.);
  // One in each node: nothing stays inside.
  route = network.route(CollectiveKind::all_to_all, {{8, 8}}, false);
  EXPECT_FALSE(route.overlaps);
  EXPECT_DOUBLE_EQ(route.levels[0].wirePerByte, 7 / 8.);
}

/// Of the bytes for 8 devices of a node what a curve of 8 says.
TEST(Network, AllToAllTakesTheCurvesOfItsTiers) {
  Machine machine = makeMachine(4);
  Pool &pool = machine.pools[0];
  pool.tiers[0].curves[CollectiveKind::all_to_all][8] =
      makeCurve(10, {400, 800, 1600});
  Route route =
      Network(pool, 32).route(CollectiveKind::all_to_all, {{1, 32}}, false);
  Route inside =
      Network(pool, 8).route(CollectiveKind::all_to_all, {{1, 8}}, false);
  for (double bytes : {1000.0, 10000.0})
    EXPECT_NEAR(timeOf(route, bytes), timeOf(inside, bytes / 4), 1e-9);
  // A curve of the whole group, where the slow tier has one, says it all.
  pool.tiers[1].curves[CollectiveKind::all_to_all][32] = makeCurve(10, {5, 9});
  route = Network(pool, 32).route(CollectiveKind::all_to_all, {{1, 32}}, false);
  EXPECT_FALSE(route.hierarchical);
  EXPECT_NEAR(timeOf(route, 2048), 9, 1e-9);
}

TEST(Network, PricesAPermuteAsOneMessage) {
  Machine machine = makeMachine(2);
  Network network(machine.pools[0], 16);
  Route route = network.route(CollectiveKind::permute, {{1, 8}}, false);
  EXPECT_TRUE(route.modelled);
  EXPECT_NEAR(timeOf(route, 360e6), 3 + 1000, 1e-6);
  route = network.route(CollectiveKind::permute, {{1, 16}}, false);
  EXPECT_FALSE(route.hierarchical);
  EXPECT_NEAR(timeOf(route, 360e6), 10 + 14400, 1e-6);
}

/// Hops of 10 us, and 24 us once where an engine starts the collective. Four
/// nodes take two hops.
TEST(Network, EnginesStartCollectivesBetweenNodesOnce) {
  Machine machine = makeMachine(4);
  Pool &pool = machine.pools[0];
  auto time = [&](CollectiveKind kind, GroupLayout group, bool isStarted) {
    Route route = Network(pool, 32).route(kind, group, false);
    addStart(pool, kind, isStarted ? 24 : 0, route);
    return timeOf(route, 0);
  };
  EXPECT_DOUBLE_EQ(time(CollectiveKind::all_reduce, {{8, 2}}, false), 10);
  EXPECT_DOUBLE_EQ(time(CollectiveKind::all_reduce, {{8, 2}}, true), 34);
  EXPECT_DOUBLE_EQ(time(CollectiveKind::all_gather, {{8, 4}}, true), 44);
  EXPECT_DOUBLE_EQ(time(CollectiveKind::permute, {{8, 4}}, true), 10);
  // Inside a node nothing starts: three hops of 3 us.
  EXPECT_DOUBLE_EQ(time(CollectiveKind::all_reduce, {{1, 8}}, true), 9);
}

TEST(Network, SaysWhenNoTierJoinsAGroup) {
  Machine machine = makeMachine();
  machine.pools[0].tiers.clear();
  EXPECT_EQ(Network(machine.pools[0], 8).tierOf({{1, 8}}), nullptr);
}

TEST(ExpertNodes, NodesOfAGroup) {
  EXPECT_EQ(nodesOf({{1, 32}}, 8), 4);
  EXPECT_EQ(nodesOf({{1, 4}}, 8), 1);
  EXPECT_EQ(nodesOf({{1, 1}}, 8), 1);
  EXPECT_EQ(nodesOf({}, 8), 1);
  // Etp inside: 4 ranks a node.
  EXPECT_EQ(nodesOf({{2, 16}}, 8), 4);
  EXPECT_EQ(nodesOf({{8, 4}, {1, 8}}, 8), 4);
  EXPECT_EQ(nodesOf({{16, 4}}, 8), 4);
  // Something else between its axes; nodes that are not filled.
  EXPECT_EQ(nodesOf({{16, 4}, {1, 8}}, 8), std::nullopt);
  EXPECT_EQ(nodesOf({{1, 12}}, 8), std::nullopt);
  EXPECT_EQ(nodesOf({{1, 3}}, 8), std::nullopt);
}
