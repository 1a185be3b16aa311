//===- PlacementTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/Placement.h"

#include "Fixtures.h"
#include "autopar/Placement/Synthetic.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::test;

static LoadProfile profileOf(std::vector<double> tokens) {
  auto experts = static_cast<int64_t>(tokens.size());
  return {experts, {{0, std::move(tokens)}}};
}

static LayerPlacement place(std::vector<double> tokens, PlacementSpace space,
                            PlacementOptions options = {},
                            const RoutingTrace *trace = nullptr) {
  space.experts = static_cast<int64_t>(tokens.size());
  Result<ExpertPlacement> placement =
      placeExperts(profileOf(std::move(tokens)), space, options, trace);
  EXPECT_TRUE(placement) << placement.error().str();
  return placement ? placement->layers[0] : LayerPlacement();
}

static PlacementOptions withPolicy(PlacementPolicy policy) {
  PlacementOptions options;
  options.policy = policy;
  return options;
}

static std::string errorOf(PlacementSpace space,
                           const PlacementOptions &options = {}) {
  std::optional<Error> error = checkPlacement(space, options);
  return error ? error->str() : "fine";
}

TEST(Placement, WordsByHand) {
  std::vector<double> loads = {4, 3, 2, 1};
  PlacementSpace space = {4, 2, 3};
  LayerPlacement block =
      place(loads, space, withPolicy(PlacementPolicy::block));
  EXPECT_EQ(block.slots, (std::vector<int32_t>{0, 1, 2, 0, 1, 3}));
  // 0 and 1 twice: 2 + 1.5 + 2 and 2 + 1.5 + 1.
  EXPECT_EQ(block.rankTokens, (std::vector<double>{5.5, 4.5}));
  EXPECT_DOUBLE_EQ(block.imbalance(), 1.1);
  // Dealt 0 1 | 2 3 | then, as the deal starts again, one on: rank 1 gets 0.
  LayerPlacement dealt =
      place(loads, space, withPolicy(PlacementPolicy::round_robin));
  EXPECT_EQ(dealt.slots, (std::vector<int32_t>{0, 1, 2, 0, 1, 3}));
  LayerPlacement three =
      place({1, 1, 1}, {3, 2, 2}, withPolicy(PlacementPolicy::round_robin));
  EXPECT_EQ(three.slots, (std::vector<int32_t>{0, 2, 0, 1}));
}

TEST(Placement, RoundRobinNeverRepeatsOnARank) {
  for (int64_t experts = 1; experts <= 12; ++experts)
    for (int64_t ranks = 1; ranks <= 12; ++ranks)
      for (int64_t slots = 1; slots <= experts; ++slots) {
        PlacementSpace space = {experts, ranks, slots};
        if (space.slots() < experts)
          continue;
        LayerPlacement placed =
            place(std::vector<double>(static_cast<size_t>(experts), 1), space,
                  withPolicy(PlacementPolicy::round_robin));
        EXPECT_EQ(twiceOnARank(placed.slots, space), 0)
            << experts << " " << ranks << " " << slots;
        EXPECT_EQ(
            std::set<int32_t>(placed.slots.begin(), placed.slots.end()).size(),
            static_cast<size_t>(experts));
      }
}

TEST(Placement, BalancedByHand) {
  // 6 on two ranks: 3 + 1 and 3 + 1 are the mean of 4.
  LayerPlacement even = place({6, 1, 1}, {3, 2, 2});
  EXPECT_EQ(even.hottestTokens, 4);
  EXPECT_TRUE(even.optimal);
  EXPECT_EQ(even.boundTokens, 4);
  // Most loaded replica: 8 in two is 4, above the mean of (8 + 1) / 3.
  LayerPlacement skewed = place({8, 0.5, 0.5}, {3, 4, 1});
  EXPECT_EQ(skewed.boundTokens, 4);
  EXPECT_EQ(skewed.hottestTokens, 4);
  EXPECT_EQ(skewed.slots.size(), 4u);
  // No slot to spare: 5 + 1 and 4 + 2, which the bound does not know.
  LayerPlacement tight = place({5, 4, 2, 1.5}, {4, 2, 2});
  EXPECT_EQ(tight.hottestTokens, 6.5);
  EXPECT_EQ(tight.boundTokens, 6.25);
  EXPECT_TRUE(tight.optimal);
}

TEST(Placement, NoLoadIsBalanced) {
  LayerPlacement none = place({0, 0, 0, 0}, {4, 2, 3});
  EXPECT_EQ(none.imbalance(), 1);
  EXPECT_TRUE(none.optimal);
}

TEST(Placement, MoreSlotsThanExperts) {
  PlacementSpace space = {2, 3, 5};
  LayerPlacement placed = place({9, 1}, space);
  EXPECT_NEAR(placed.imbalance(), 1, 1e-12);
  EXPECT_TRUE(placed.optimal);
}

/// All assignments of small cases, each rank any set of experts.
TEST(Placement, AgreesWithEnumeration) {
  RandomNumbers random(5);
  double excess = 0;
  int cases = 0, proved = 0;
  for (; cases < 300; ++cases) {
    auto experts = 3 + random.below(4), ranks = 2 + random.below(2);
    auto fewest = (experts + ranks - 1) / ranks;
    auto slots = fewest + random.below(2);
    if (slots > experts)
      slots = experts;
    std::vector<double> loads;
    for (size_t i = 0; i < experts; ++i) {
      auto load = static_cast<double>(1 + random.below(100));
      loads.push_back(random.below(3) ? load : load * load / 10);
    }
    double least = leastLargestLoad(loads, static_cast<int>(ranks),
                                    static_cast<int>(slots));
    LayerPlacement placed = place(
        loads, {0, static_cast<int64_t>(ranks), static_cast<int64_t>(slots)});
    EXPECT_GE(placed.hottestTokens, least * (1 - 1e-9));
    EXPECT_LE(placed.boundTokens, least * (1 + 1e-9));
    if (placed.optimal) {
      EXPECT_NEAR(placed.hottestTokens / least, 1, 1e-9);
    }
    excess += placed.hottestTokens / least - 1;
    proved += placed.optimal;
  }
  EXPECT_LT(excess / cases, 1e-9);
  EXPECT_EQ(proved, cases);
}

/// Twelve slots: 1.5 million assignments each.
TEST(Placement, IsNearEnumerationOfLargerCases) {
  RandomNumbers random(6);
  double excess = 0;
  constexpr int cases = 12;
  for (int i = 0; i < cases; ++i) {
    std::vector<double> loads;
    for (int expert = 0; expert < 7; ++expert)
      loads.push_back(static_cast<double>(1 + random.below(100)));
    excess +=
        place(loads, {7, 4, 3}).hottestTokens / leastLargestLoad(loads, 4, 3) -
        1;
  }
  EXPECT_LT(excess / cases, 0.01);
}

TEST(Placement, NeverTwiceOnARank) {
  RandomNumbers random(7);
  for (int i = 0; i < 300; ++i) {
    auto experts = static_cast<int64_t>(2 + random.below(40));
    auto ranks = static_cast<int64_t>(1 + random.below(12));
    int64_t fewest = (experts + ranks - 1) / ranks;
    int64_t slots = fewest + static_cast<int64_t>(random.below(4));
    std::vector<double> loads = loadShares(
        LoadShapeKind::zipf, static_cast<double>(random.below(4)), experts);
    PlacementSpace space = {experts, ranks, std::min(slots, experts)};
    LayerPlacement placed = place(loads, space);
    EXPECT_EQ(twiceOnARank(placed.slots, space), 0);
    EXPECT_EQ(
        std::set<int32_t>(placed.slots.begin(), placed.slots.end()).size(),
        static_cast<size_t>(experts));
    EXPECT_NEAR(std::accumulate(placed.rankTokens.begin(),
                                placed.rankTokens.end(), 0.0),
                1, 1e-9);
    EXPECT_GE(placed.hottestTokens, placed.boundTokens * (1 - 1e-9));
  }
}

TEST(Placement, IsTheSameEveryTime) {
  Result<LoadProfile> loads =
      makeLoads({LoadShapeKind::zipf, 1, 64, 3, 10'000, 9});
  ASSERT_TRUE(loads);
  PlacementSpace space = {64, 8, 9, 2, 8};
  auto slotsOf = [&] {
    return placeExperts(*loads, space, {})->layers[2].slots;
  };
  EXPECT_EQ(slotsOf(), slotsOf());
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

TEST(Placement, KeepsGroupsInNodes) {
  PlacementOptions options;
  options.groupsInNode = true;
  PlacementSpace space = {64, 16, 5, 4, 8};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Result<LoadProfile> loads =
        makeLoads({LoadShapeKind::zipf, 1, 64, 1, 10'000, seed});
    LayerPlacement placed = placeExperts(*loads, space, options)->layers[0];
    std::vector<std::set<int64_t>> nodesOfGroup(8);
    for (size_t slot = 0; slot < placed.slots.size(); ++slot)
      nodesOfGroup[placed.slots[slot] / 8].insert(
          space.nodeOfSlot(static_cast<int64_t>(slot)));
    for (const auto &nodes : nodesOfGroup)
      EXPECT_EQ(nodes.size(), 1u);
    EXPECT_EQ(twiceOnARank(placed.slots, space), 0);
    EXPECT_LE(placed.hottestTokens, placed.blockHottestTokens);
  }
}

/// Where loads are nearly even, blocks are sometimes better than a search.
TEST(Placement, IsNeverWorseThanBlocks) {
  Result<LoadProfile> loads =
      makeLoads({LoadShapeKind::log_normal, 0.03, 512, 48, 0, 0});
  ASSERT_TRUE(loads) << loads.error().str();
  Result<ExpertPlacement> placement = placeExperts(*loads, {512, 2, 257}, {});
  ASSERT_TRUE(placement) << placement.error().str();
  for (const LayerPlacement &layer : placement->layers)
    EXPECT_LE(layer.hottestTokens, layer.blockHottestTokens * (1 + 1e-12));
}

TEST(Placement, GroupsByHand) {
  // Groups of 2: 6 + 2, 1 + 0.5, 4 + 2, 3 + 1; nodes of 8 + 1.5 and 6 + 4.
  PlacementOptions options;
  options.groupsInNode = true;
  LayerPlacement placed =
      place({6, 2, 1, 0.5, 4, 2, 3, 1}, {8, 4, 2, 2, 4}, options);
  // Within a node no slot is spare: 6 + 0.5 and 2 + 1; 4 + 1 and 2 + 3.
  EXPECT_EQ(placed.slots, (std::vector<int32_t>{0, 3, 1, 2, 4, 7, 5, 6}));
  EXPECT_EQ(placed.hottestTokens, 6.5);
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

TEST(Traffic, ByHand) {
  // Experts 0, 1 on node 0 and 2, 3 on node 1; 0 also on node 1.
  PlacementSpace space = {4, 2, 3, 2};
  LayerTrace trace = {0, {{{0, 1}, 2}, {{0, 2}, 1}, {{1, 3}, 1}}};
  LayerLoads loads = {0, {3, 3, 1, 1}};
  LayerPlacement placed =
      evaluatePlacement({0, 1, 1, 0, 2, 3}, loads, space, &trace);
  // {0, 1}: node 0 for sure, node 1 by half: 1.5. {0, 2}: 1.5. {1, 3}: 2. Half
  // of all starts at home.
  ASSERT_TRUE(placed.traffic);
  EXPECT_DOUBLE_EQ(placed.traffic->sends, (2 * 1.5 + 1.5 + 2) / 2);
  EXPECT_EQ(placed.traffic->tokens, 4);
  EXPECT_DOUBLE_EQ(placed.traffic->perToken(), 3.25 / 4);
}

TEST(Traffic, OneNodeHasNone) {
  PlantedTrace planted = plantTrace({16, 2, 2, 100});
  LayerPlacement placed = place(loadsOf(planted.trace).layers[0].tokens,
                                {16, 4, 5}, {}, &planted.trace);
  EXPECT_EQ(placed.traffic->sends, 0);
}

/// Fewer experts than nodes, one per node, nearly one: nothing is lost.
TEST(Traffic, ManyNodes) {
  for (int experts : {3, 8, 12})
    for (int64_t slots : {2, 3}) {
      PlantedTrace planted = plantTrace({experts, 1, 2, 100});
      PlacementSpace space = {experts, 8, slots, 8};
      LayerPlacement placed = place(loadsOf(planted.trace).layers[0].tokens,
                                    space, {}, &planted.trace);
      EXPECT_EQ(twiceOnARank(placed.slots, space), 0);
      EXPECT_EQ(
          std::set<int32_t>(placed.slots.begin(), placed.slots.end()).size(),
          static_cast<size_t>(experts));
    }
}

TEST(Traffic, GroupsGoWhereTheyFireTogether) {
  // Groups 0 and 2, 1 and 3 fire together, with equal loads.
  RoutingTrace trace = {
      8, {{0, {{{0, 4}, 50}, {{1, 5}, 50}, {{2, 6}, 50}, {{3, 7}, 50}}}}};
  PlacementOptions options;
  options.groupsInNode = true;
  LayerPlacement placed =
      place(loadsOf(trace).layers[0].tokens, {8, 4, 2, 2, 4}, options, &trace);
  EXPECT_DOUBLE_EQ(placed.traffic->perToken(), 0.5);
  EXPECT_DOUBLE_EQ(placed.blockTraffic->perToken(), 1);
  EXPECT_EQ(placed.imbalance(), 1);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(Placement, ChecksSpace) {
  EXPECT_EQ(errorOf({256, 32, 9, 4, 8}), "fine");
  EXPECT_EQ(errorOf({256, 32, 7}),
            "256 experts do not fit in 32 ranks of 7 slots\n"
            "  note: 8 slots per rank would do");
  EXPECT_EQ(errorOf({0, 32, 7}), "experts: expected 1 to 16384, found 0");
  EXPECT_EQ(errorOf({8, 0, 7}), "ranks: expected 1 to 65536, found 0");
  EXPECT_EQ(errorOf({8, 1000, 70}),
            "slots per rank: expected 1 to 65, found 70");
  EXPECT_EQ(errorOf({8, 8, 1, 3}), "8 ranks do not split evenly into 3 nodes\n"
                                   "  note: 2 nodes would do");
  EXPECT_EQ(errorOf({8, 8, 1, 9}), "nodes: expected 1 to 8, found 9");
  EXPECT_EQ(errorOf({8, 8, 1, 1, 3}),
            "8 experts do not split evenly into 3 groups\n"
            "  note: 2 groups would do");
  PlacementOptions options;
  options.tolerance = -1;
  EXPECT_EQ(errorOf({8, 8, 1}, options),
            "tolerance: expected 0 to 1, found -1");
  options = withPolicy(PlacementPolicy::block);
  options.groupsInNode = true;
  EXPECT_EQ(errorOf({8, 8, 1}, options),
            "policy block does not keep groups in nodes\n"
            "  note: policy balanced does");
  options.policy = PlacementPolicy::balanced;
  EXPECT_EQ(errorOf({8, 8, 1, 4, 2}, options),
            "2 groups do not split evenly into 4 nodes\n"
            "  note: 2 nodes would do");
}

TEST(Placement, ChecksLoads) {
  Result<ExpertPlacement> placement =
      placeExperts(profileOf({1, 2}), {4, 2, 2}, {});
  ASSERT_FALSE(placement);
  EXPECT_EQ(placement.error().str(), "the loads are of 2 experts, expected 4");
  RoutingTrace trace = {5, {}};
  placement = placeExperts(profileOf({1, 2}), {2, 2, 2}, {}, &trace);
  ASSERT_FALSE(placement);
  EXPECT_EQ(placement.error().str(),
            "the trace is of 5 experts, expected at most 2");
}

TEST(Placement, SlotsWithinMemory) {
  // 9.5 experts fit.
  EXPECT_EQ(*slotsWithin(95, 10, 256, 32), 9);
  EXPECT_EQ(*slotsWithin(Checked(1) * 1'000'000, 10, 256, 32), 256);
  Result<int64_t> none = slotsWithin(75, 10, 256, 32);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().str(),
            "75 B hold 7 experts of 10 B, but 256 experts on 32 ranks are at "
            "least 8 per rank\n  note: 80 B would do");
  EXPECT_FALSE(slotsWithin(75, 0, 256, 32));
}

TEST(Placement, NamesOfPolicies) {
  for (PlacementPolicy policy :
       {PlacementPolicy::block, PlacementPolicy::round_robin,
        PlacementPolicy::balanced})
    EXPECT_EQ(parsePlacementPolicy(nameOf(policy)), policy);
  EXPECT_FALSE(parsePlacementPolicy("best"));
}
