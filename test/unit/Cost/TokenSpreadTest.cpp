//===- TokenSpreadTest.cpp - How many nodes have experts of a token -------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/TokenSpread.h"
#include "autopar/Cost/Route.h"

#include "Fixtures.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::test;

static std::vector<int64_t> firstRanks(int64_t count) {
  std::vector<int64_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Nodes of `ranks / inside` that a token goes to.
static double nodesOfToken(const TokenSpread &spread, int64_t inside) {
  int64_t nodes = spread.ranks / inside;
  return static_cast<double>(nodes) * reachOf(spread, firstRanks(inside));
}

TEST(TokenSpread, CountsNodesOfEightOf256Experts) {
  TokenSpread spread{8, 256, 1, 1, 64};
  // 32 experts on a node: missed by 224*223*..*217 / (256*255*..*249).
  EXPECT_NEAR(nodesOfToken(spread, 8), 8 * (1 - 0.3381685), 1e-6);
  // One of eight groups on each node, four of which are kept: a node is kept
  // with 1/2, and then missed with 96*..*89 / (128*..*121) = 0.0927473.
  spread.groups = 8;
  spread.kept = 4;
  EXPECT_NEAR(nodesOfToken(spread, 8), 4 * (1 - 0.0927473), 1e-6);
  EXPECT_LT(nodesOfToken(spread, 8), 4);
  // Two groups on each of four nodes: of 70 sets of four, 40 keep one of the
  // two and 15 both, missed with 64*..*57 / (128*..*121) = 0.0030959.
  spread.ranks = 32;
  EXPECT_NEAR(nodesOfToken(spread, 8),
              4 * (40 / 70. * (1 - 0.0927473) + 15 / 70. * (1 - 0.0030959)),
              1e-5);
}

TEST(TokenSpread, KnowsTheEnds) {
  // All experts, or one each.
  EXPECT_DOUBLE_EQ(reachOf({2, 8, 1, 1, 4}, firstRanks(4)), 1);
  EXPECT_DOUBLE_EQ(reachOf({1, 8, 1, 1, 4}, firstRanks(1)), 1 / 4.);
  EXPECT_DOUBLE_EQ(reachOf({8, 8, 1, 1, 8}, firstRanks(1)), 1);
  // Half an expert each.
  EXPECT_DOUBLE_EQ(reachOf({1, 8, 1, 1, 16}, firstRanks(1)), 1 / 16.);
}

/// The share of all routings, one by one, that have an expert on `some`.
static double countReached(const TokenSpread &spread,
                           const std::vector<int64_t> &some) {
  int64_t size = spread.experts / spread.groups,
          each = spread.experts / spread.ranks;
  std::set<int64_t> held;
  for (int64_t rank : some)
    for (int64_t i = 0; i < each; ++i)
      held.insert(rank * each + i);
  int64_t reached = 0, all = 0;
  for (int64_t kept = 0; kept < int64_t(1) << spread.groups; ++kept) {
    if (__builtin_popcountll(kept) != spread.kept)
      continue;
    for (int64_t chosen = 0; chosen < int64_t(1) << spread.experts; ++chosen) {
      if (__builtin_popcountll(chosen) != spread.topK)
        continue;
      bool isLegal = true, isHeld = false;
      for (int64_t expert = 0; expert < spread.experts; ++expert)
        if (chosen >> expert & 1) {
          isLegal &= (kept >> expert / size & 1) != 0;
          isHeld |= held.count(expert) != 0;
        }
      all += isLegal;
      reached += isLegal && isHeld;
    }
  }
  return static_cast<double>(reached) / static_cast<double>(all);
}

TEST(TokenSpread, IsTheShareOfAllRoutings) {
  const std::pair<TokenSpread, std::vector<int64_t>> cases[] = {
      {{3, 12, 1, 1, 4}, {0}},       {{3, 12, 4, 2, 4}, {0, 1}},
      {{2, 12, 6, 3, 4}, {0, 1}},    {{3, 12, 3, 2, 6}, {0, 3}},
      {{3, 12, 2, 1, 6}, {1, 2, 4}}, {{4, 12, 4, 3, 3}, {1}},
  };
  for (const auto &[spread, some] : cases)
    EXPECT_NEAR(reachOf(spread, some), countReached(spread, some), 1e-12);
}

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

static TokenSpread deepSeek(int64_t ranks, std::vector<int64_t> strides) {
  return {8, 256, 8, 4, ranks, std::move(strides)};
}

/// 32 devices in 4 nodes: a token goes to 2.92821 nodes, 3/4 of which are
/// others, and to 6.59651 devices, 7/8 of which are not where it arrives.
TEST(TokenSpread, RoutesGoToEachNodeOnce) {
  Machine machine = makeMachine(4);
  Network network(machine.pools[0], 32);
  TokenSpread spread = deepSeek(32, {1});
  Route route =
      network.route(CollectiveKind::all_to_all, {{1, 32}}, false, &spread);
  EXPECT_TRUE(route.byNode && route.overlaps);
  ASSERT_EQ(route.levels.size(), 2u);
  EXPECT_NEAR(route.levels[1].copies, 2.92821, 1e-5);
  EXPECT_NEAR(route.levels[1].wirePerByte, 2.92821 / 8 * 3 / 4, 1e-6);
  EXPECT_NEAR(route.levels[0].copies, 6.59651, 1e-5);
  EXPECT_NEAR(route.levels[0].wirePerByte, 6.59651 / 8 * 7 / 8, 1e-6);
  // 800 MB of rows: 219.6 MB at 25 GB/s beside 577.2 MB at 360 GB/s.
  EXPECT_NEAR(timeOf(route, 800e6), 20 + 800e6 * 0.2745197 / 25e3, 0.1);
}

TEST(TokenSpread, OneNodeIsAsWithout) {
  Machine machine = makeMachine(4);
  Network network(machine.pools[0], 32);
  TokenSpread spread = deepSeek(8, {1});
  Route plain = network.route(CollectiveKind::all_to_all, {{1, 8}}, false);
  Route route =
      network.route(CollectiveKind::all_to_all, {{1, 8}}, false, &spread);
  EXPECT_FALSE(route.byNode);
  for (double bytes : {0.0, 1e3, 1e9})
    EXPECT_EQ(timeOf(route, bytes), timeOf(plain, bytes));
}

/// Of 8 devices with a group each, of which 4 are kept, a token goes to
/// 8 * 4/8 * (1 - C(96, 8) / C(128, 8)) = 3.62901, 7/8 of which are others.
TEST(TokenSpread, OneNodeWhereTokensGoToEachDeviceOnce) {
  Machine machine = makeMachine(4);
  Network network(machine.pools[0], 32);
  TokenSpread spread = deepSeek(8, {1});
  spread.inNode = true;
  Route route =
      network.route(CollectiveKind::all_to_all, {{1, 8}}, false, &spread);
  EXPECT_TRUE(route.byNode);
  ASSERT_EQ(route.levels.size(), 1u);
  EXPECT_NEAR(route.levels[0].copies, 3.62901, 1e-5);
  EXPECT_NEAR(route.levels[0].wirePerByte, 3.62901 / 8 * 7 / 8, 1e-6);
}

/// With tp inside a node, one device of each node is in a group: it has the
/// rows of 4 of the 32 experts there.
TEST(TokenSpread, GroupsWithOneDeviceOfANode) {
  Machine machine = makeMachine(8);
  Network network(machine.pools[0], 64);
  TokenSpread spread = deepSeek(64, {8});
  Route route =
      network.route(CollectiveKind::all_to_all, {{8, 8}}, false, &spread);
  ASSERT_EQ(route.levels.size(), 1u);
  // Kept with 1/2, missed with 124*..*117 / (128*..*121) = 0.7700197; of a
  // token's 8 rows 1 goes to the group.
  EXPECT_NEAR(route.levels[0].copies, 8 * 0.5 * (1 - 0.7700197), 1e-5);
  EXPECT_NEAR(route.levels[0].wirePerByte, 4 * (1 - 0.7700197) * 7 / 8, 1e-5);
}

/// What leaves a node is never more than a row for each expert, at any layout.
TEST(TokenSpread, NeverSendsMoreAcross) {
  std::mt19937_64 random(7);
  int compared = 0;
  auto pick = [&](const std::vector<int64_t> &of) {
    return of[random() % of.size()];
  };
  for (int round = 0; round < 2000; ++round) {
    int64_t inner = pick({1, 2, 4, 8}), size = pick({2, 3, 4, 6, 8, 16, 32}),
            outer = pick({1, 2});
    int64_t groups = pick({1, 1, 2, 8, 16}), kept = 1 + random() % groups;
    int64_t experts = pick({64, 128, 256});
    int64_t topK =
        1 + random() % std::min<int64_t>(12, kept * experts / groups);
    Machine machine = makeMachine(64);
    Network network(machine.pools[0], inner * size * outer);
    GroupLayout layout = {{inner, size}};
    TokenSpread spread{topK, experts, groups, kept, inner * size, {inner}};
    Route plain = network.route(CollectiveKind::all_to_all, layout, false);
    Route route =
        network.route(CollectiveKind::all_to_all, layout, false, &spread);
    if (!route.byNode)
      continue;
    EXPECT_LE(route.levels.back().wirePerByte,
              plain.levels.back().wirePerByte * (1 + 1e-12));
    EXPECT_LE(route.levels.back().copies, spread.rowsOver(size) * (1 + 1e-12));
    EXPECT_GT(route.levels.back().wirePerByte, 0);
    ++compared;
  }
  EXPECT_GE(compared, 500);
}
