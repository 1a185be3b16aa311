//===- BusiestRowsTest.cpp - The busiest of ranks against drawn routing ---===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace autopar;
using namespace autopar::cost;

namespace {

/// `topK` of the experts in `kept` of `groups` groups, all sets alike.
struct Router {
  int experts, topK, groups = 1, kept = 1;

  void route(std::vector<int> &rows, std::mt19937_64 &random) const {
    std::vector<int> group(groups), expert;
    std::iota(group.begin(), group.end(), 0);
    std::shuffle(group.begin(), group.end(), random);
    int size = experts / groups;
    for (int i = 0; i < kept; ++i)
      for (int j = 0; j < size; ++j)
        expert.push_back(group[i] * size + j);
    for (int i = 0; i < topK; ++i) {
      std::swap(expert[i], expert[i + random() % (expert.size() - i)]);
      ++rows[expert[i]];
    }
  }
};

} // namespace

/// The mean over draws of the most rows of a rank.
static double drawnRows(const Router &router, int ranks, int tokens) {
  constexpr int draws = 400;
  std::mt19937_64 random(ranks * 1000003 + tokens);
  int own = router.experts / ranks;
  double sum = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<int> rows(router.experts);
    for (int token = 0; token < tokens; ++token)
      router.route(rows, random);
    int most = 0;
    for (int rank = 0; rank < ranks; ++rank)
      most =
          std::max(most, std::accumulate(rows.begin() + rank * own,
                                         rows.begin() + (rank + 1) * own, 0));
    sum += most;
  }
  return sum / draws;
}

static double expectedRows(const Router &router, int ranks, int tokens,
                           double dispersion) {
  double all = double(tokens) * router.topK;
  return busiestRows(all / ranks, double(ranks), dispersion);
}

TEST(BusiestRowsTest, FollowsDrawnRouting) {
  // (E - k) / (E - 1).
  Router router{128, 8};
  for (int ranks : {2, 4, 8, 16, 32, 64, 128})
    for (int tokens : {8, 32, 128})
      EXPECT_NEAR(expectedRows(router, ranks, tokens, 120 / 127.0) /
                      drawnRows(router, ranks, tokens),
                  1, 0.03)
          << ranks << " ranks, " << tokens << " tokens";
}

/// A rank with a group of its own gets none or many: 1 - 1/8*8 + 31 * 7/127,
/// times 8/7; with two groups 1 - 2 + (31 + 32 * 3/7) * 7/127, times 4/3.
TEST(BusiestRowsTest, FollowsRoutingByGroup) {
  Router router{256, 8, 8, 4};
  double ofOne = 31 * 7 / 127.0 * 8 / 7;
  double ofTwo = (-1 + (31 + 32 * 3 / 7.0) * 7 / 127) * 4 / 3;
  for (int tokens : {8, 32, 128}) {
    EXPECT_NEAR(expectedRows(router, 8, tokens, ofOne) /
                    drawnRows(router, 8, tokens),
                1, 0.03);
    EXPECT_NEAR(expectedRows(router, 4, tokens, ofTwo) /
                    drawnRows(router, 4, tokens),
                1, 0.03);
  }
}

TEST(BusiestRowsTest, HasItsEnds) {
  // One rank has all; none vary; nobody routes.
  EXPECT_EQ(busiestRows(77.0, 1.0, 0.9), 77);
  EXPECT_EQ(busiestRows(77.0, 8.0, 0.0), 77);
  EXPECT_EQ(busiestRows(0.0, 8.0, 0.9), 0);
  // The least that there is: one of two rows is somewhere.
  EXPECT_GE(busiestRows(2 / 64.0, 64.0, 0.9), 1);
  // Many rows are even.
  EXPECT_NEAR(busiestRows(1e9, 256.0, 0.9) / 1e9, 1, 1e-4);
}

TEST(BusiestRowsTest, RisesWithAll) {
  double before = 0;
  for (double mean = 1 / 64.0; mean < 1e6; mean *= 1.3) {
    double rows = busiestRows(mean, 8.0, 0.95);
    EXPECT_GE(rows, before);
    EXPECT_GE(rows, mean);
    EXPECT_LE(rows, busiestRows(mean, 16.0, 0.95));
    EXPECT_LE(rows, busiestRows(mean, 8.0, 1.95));
    before = rows;
  }
}
