//===- Fixtures.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Placement/Synthetic.h"

#include <algorithm>
#include <map>
#include <set>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::test;

static size_t choose(const std::vector<double> &shares, RandomNumbers &random) {
  double left = static_cast<double>(random.below(1 << 30)) / (1 << 30);
  size_t chosen = 0;
  for (; chosen + 1 < shares.size() && left >= shares[chosen]; ++chosen)
    left -= shares[chosen];
  return chosen;
}

PlantedTrace test::plantTrace(const PlantedOptions &options) {
  RandomNumbers random(options.seed);
  PlantedTrace planted;
  planted.communityOf.resize(static_cast<size_t>(options.experts));
  std::vector<int32_t> order;
  for (int expert = 0; expert < options.experts; ++expert)
    order.push_back(expert);
  shuffle(order, random);
  std::vector<std::vector<int32_t>> members(
      static_cast<size_t>(options.communities));
  for (size_t i = 0; i < order.size(); ++i) {
    planted.communityOf[order[i]] = static_cast<int>(i % members.size());
    members[i % members.size()].push_back(order[i]);
  }
  auto popularity =
      loadShares(LoadShapeKind::zipf, options.popularity, options.communities);
  auto inside = loadShares(LoadShapeKind::zipf, options.skew,
                           options.experts / options.communities);
  std::map<std::vector<int32_t>, double> sets;
  for (int token = 0; token < options.tokens; ++token) {
    const auto &community = members[choose(popularity, random)];
    std::set<int32_t> fired;
    while (static_cast<int>(fired.size()) < options.topK)
      fired.insert(random.below(1 << 20) < options.noise * (1 << 20)
                       ? static_cast<int32_t>(random.below(order.size()))
                       : community[choose(inside, random)]);
    ++sets[{fired.begin(), fired.end()}];
  }
  planted.trace.experts = options.experts;
  planted.trace.layers.push_back({0, {}});
  for (auto &[experts, tokens] : sets)
    planted.trace.layers[0].routed.push_back({experts, tokens});
  return planted;
}

/// Sets of `slots` experts as bits.
static std::vector<unsigned> setsOf(unsigned experts, int slots) {
  std::vector<unsigned> sets;
  for (unsigned set = 0; set < 1u << experts; ++set)
    if (__builtin_popcount(set) == slots)
      sets.push_back(set);
  return sets;
}

double test::leastLargestLoad(const std::vector<double> &loads, int ranks,
                              int slots) {
  std::vector<unsigned> sets =
      setsOf(static_cast<unsigned>(loads.size()), slots);
  std::vector<size_t> chosen(static_cast<size_t>(ranks));
  double least = 1e300;
  for (;;) {
    std::vector<int> counts(loads.size());
    for (size_t choice : chosen)
      for (size_t expert = 0; expert < loads.size(); ++expert)
        counts[expert] += sets[choice] >> expert & 1;
    double largest = 0;
    for (size_t choice : chosen) {
      double tokens = 0;
      for (size_t expert = 0; expert < loads.size(); ++expert)
        if (sets[choice] >> expert & 1)
          tokens += loads[expert] / counts[expert];
      largest = std::max(largest, tokens);
    }
    if (std::count(counts.begin(), counts.end(), 0) == 0)
      least = std::min(least, largest);
    // The next choice, without order among ranks.
    size_t rank = 0;
    while (rank < chosen.size() && ++chosen[rank] == sets.size())
      ++rank;
    if (rank == chosen.size())
      return least;
    std::fill(chosen.begin(), chosen.begin() + rank, chosen[rank]);
  }
}

int test::twiceOnARank(const std::vector<int32_t> &slots,
                       const PlacementSpace &space) {
  int twice = 0;
  for (int64_t rank = 0; rank < space.ranks; ++rank) {
    auto begin = slots.begin() + rank * space.slotsPerRank;
    std::set<int32_t> held(begin, begin + space.slotsPerRank);
    twice +=
        static_cast<int>(space.slotsPerRank) - static_cast<int>(held.size());
  }
  return twice;
}
