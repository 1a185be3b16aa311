//===- LoadLimitTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/LoadLimit.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::placement;

using Tokens = std::vector<double>;

TEST(LoadLimit, CutsWhatIsAboveTheMean) {
  // The mean of 6 is 1.5.
  Tokens loads = {3, 1, 1, 1};
  EXPECT_EQ(workedTokens(loads, {1}), (Tokens{1.5, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(keptShare(loads, {1}), 4.5 / 6);
  EXPECT_EQ(workedTokens(loads, {0.5}), (Tokens{0.75, 0.75, 0.75, 0.75}));
  EXPECT_DOUBLE_EQ(keptShare(loads, {0.5}), 0.5);
}

TEST(LoadLimit, PaddedExpertsWorkAlikeAndDropAsMany) {
  Tokens loads = {3, 1, 1, 1};
  EXPECT_EQ(workedTokens(loads, {1, true}), (Tokens{1.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(workedTokens(loads, {4, true}), (Tokens{6, 6, 6, 6}));
  EXPECT_DOUBLE_EQ(keptShare(loads, {1, true}), 4.5 / 6);
}

TEST(LoadLimit, DropsNothingFromTheHottestShareOn) {
  Tokens loads = {3, 1, 1, 1};
  EXPECT_EQ(workedTokens(loads, {2}), loads);
  EXPECT_EQ(keptShare(loads, {2}), 1);
  EXPECT_LT(keptShare(loads, {1.999}), 1);
  EXPECT_EQ(keptShare({0, 0}, {1}), 1);
}

TEST(LoadLimit, MoreCapacityNeverDropsMore) {
  Tokens loads;
  for (int i = 1; i <= 64; ++i)
    loads.push_back(std::pow(i, -1.0));
  double before = 0;
  for (double factor = 0.125; factor <= 32; factor *= 1.25) {
    double share = keptShare(loads, {factor});
    EXPECT_GE(share, before) << factor;
    EXPECT_LE(share, std::min(1.0, factor) + 1e-12) << factor;
    before = share;
  }
  EXPECT_DOUBLE_EQ(before, 1);
}
