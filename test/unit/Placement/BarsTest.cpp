//===- BarsTest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The bars of expert placement, measured; what they print is the benchmark.

#include "Fixtures.h"
#include "autopar/Placement/Synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::test;

namespace {

struct Measured {
  /// Most loaded rank beyond the bound, and milliseconds, by layer, rising.
  std::vector<double> excess, milliseconds;
  double imbalance = 0, roundRobin = 0;
  int worseThanWords = 0;

  void print(const char *name) const {
    size_t middle = excess.size() / 2;
    std::printf("%-34s beyond the bound: median %.4f%%, worst %.4f%%; "
                "imbalance %.4f, round_robin %.2f; median %.2f ms, worst %.2f "
                "ms\n",
                name, 100 * excess[middle], 100 * excess.back(), imbalance,
                roundRobin, milliseconds[middle], milliseconds.back());
  }
};

} // namespace

static Measured measure(const SyntheticLoad &load,
                        const PlacementSpace &space) {
  Measured result;
  Result<LoadProfile> loads = makeLoads(load);
  PlacementOptions dealt;
  dealt.policy = PlacementPolicy::round_robin;
  for (const LayerLoads &layer : loads->layers) {
    LoadProfile one = {space.experts, {layer}};
    auto start = std::chrono::steady_clock::now();
    LayerPlacement placed = placeExperts(one, space, {})->layers[0];
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    double words = placeExperts(one, space, dealt)->layers[0].hottestTokens;
    result.milliseconds.push_back(time.count());
    result.excess.push_back(placed.hottestTokens / placed.boundTokens - 1);
    result.worseThanWords +=
        placed.hottestTokens > std::min(words, placed.blockHottestTokens);
    result.imbalance += placed.imbalance() / load.layers;
    result.roundRobin += words / placed.meanTokens / load.layers;
  }
  std::sort(result.excess.begin(), result.excess.end());
  std::sort(result.milliseconds.begin(), result.milliseconds.end());
  return result;
}

TEST(Bars, ZipfOf256ExpertsOn32Ranks) {
  PlacementSpace space = {256, 32, 9, 4, 8};
  Measured measured =
      measure({LoadShapeKind::zipf, 1, 256, 100, 65'536, 1}, space);
  measured.print("zipf 1, 65,536 draws");
  EXPECT_LT(measured.excess[50], 0.01);
  EXPECT_EQ(measured.worseThanWords, 0);
  EXPECT_LT(measured.milliseconds[50], 100);
}

TEST(Bars, OtherLoads) {
  PlacementSpace space = {256, 32, 9, 4, 8};
  Measured few = measure({LoadShapeKind::zipf, 1, 256, 20, 4096, 2}, space);
  few.print("zipf 1, 4,096 draws");
  Measured steep = measure({LoadShapeKind::zipf, 2, 256, 20, 65'536, 3}, space);
  steep.print("zipf 2, 65,536 draws");
  Measured measured = measure(
      {LoadShapeKind::log_normal, measuredGini, 256, 20, 65'536, 4}, space);
  measured.print("log-normal, Gini 0.24");
  space.slotsPerRank = 8;
  Measured tight = measure(
      {LoadShapeKind::log_normal, measuredGini, 256, 20, 65'536, 5}, space);
  tight.print("log-normal, no redundant slots");
  for (const Measured *each : {&few, &steep, &measured, &tight}) {
    EXPECT_LT(each->excess[10], 0.01);
    EXPECT_EQ(each->worseThanWords, 0);
    EXPECT_LT(each->milliseconds[10], 100);
  }
}

/// The largest sizes end too: by steps.
TEST(Bars, LargeLayersEnd) {
  LoadProfile loads =
      *makeLoads({LoadShapeKind::zipf, 1, 16'384, 1, 1'000'000, 6});
  for (PlacementSpace space :
       {PlacementSpace{16'384, 7281, 9}, PlacementSpace{16'384, 4, 16'383}}) {
    auto start = std::chrono::steady_clock::now();
    LayerPlacement placed = placeExperts(loads, space, {})->layers[0];
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    std::printf("16,384 experts on %d ranks: %.2f s\n",
                static_cast<int>(space.ranks), time.count());
    EXPECT_LE(placed.hottestTokens, placed.blockHottestTokens);
  }
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// Communities of which a node has some expert, beyond one per node.
static int strayCommunities(const LayerPlacement &placed,
                            const PlacementSpace &space,
                            const std::vector<int> &communityOf) {
  std::vector<std::set<int>> byNode(static_cast<size_t>(space.nodes));
  for (size_t slot = 0; slot < placed.slots.size(); ++slot)
    byNode[space.nodeOfSlot(static_cast<int64_t>(slot))].insert(
        communityOf[placed.slots[slot]]);
  int stray = 0;
  for (const auto &communities : byNode)
    stray += static_cast<int>(communities.size()) - 1;
  return stray;
}

TEST(Bars, TrafficIsLowerInEveryCase) {
  for (double popularity : {0.0, 1.0})
    for (double skew : {0.0, 0.7})
      for (double noise : {0.0, 0.5, 0.8})
        for (int64_t slots : {8, 9}) {
          PlantedTrace planted =
              plantTrace({256, 8, 8, 10'000, noise, popularity, skew, 11});
          PlacementSpace space = {256, 32, slots, 8, 8};
          LoadProfile loads = loadsOf(planted.trace);
          LayerPlacement alone = placeExperts(loads, space, {})->layers[0];
          LayerPlacement placed =
              placeExperts(loads, space, {}, &planted.trace)->layers[0];
          std::printf("popularity %.0f, skew %.1f, noise %.1f, %d slots: sends "
                      "per token %.2f -> %.2f, imbalance %.3f -> %.3f\n",
                      popularity, skew, noise, static_cast<int>(slots),
                      placed.blockTraffic->perToken(),
                      placed.traffic->perToken(), placed.blockImbalance(),
                      placed.imbalance());
          EXPECT_LT(placed.traffic->sends, placed.blockTraffic->sends);
          EXPECT_LE(placed.hottestTokens, alone.hottestTokens * 1.0200001);
          EXPECT_EQ(twiceOnARank(placed.slots, space), 0);
        }
}

TEST(Bars, CommunitiesAreRecovered) {
  PlacementOptions options;
  // What the draws of tokens differ by between communities.
  options.tolerance = 0.1;
  for (double noise : {0.0, 0.2, 0.5})
    for (int64_t slots : {8, 9}) {
      PlantedTrace planted = plantTrace({256, 8, 8, 20'000, noise, 0, 0, 7});
      PlacementSpace space = {256, 32, slots, 8, 8};
      LayerPlacement placed =
          placeExperts(loadsOf(planted.trace), space, options, &planted.trace)
              ->layers[0];
      EXPECT_EQ(strayCommunities(placed, space, planted.communityOf), 0);
      if (noise == 0) {
        EXPECT_DOUBLE_EQ(placed.traffic->perToken(), 7.0 / 8);
      }
    }
}
