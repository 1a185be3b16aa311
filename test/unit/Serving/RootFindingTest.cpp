//===- RootFindingTest.cpp - Where a function falls to zero -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QueueModel/RootFinding.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::serving;

namespace {
/// A zero, and how often it took to look.
struct Found {
  double at = 0;
  int looks = 0;
};
} // namespace

template <typename Excess>
static Found find(double guess, double low, double high, Excess excess) {
  Found found;
  auto excessAt = [&](double at, double &value) {
    ++found.looks;
    value = excess(at);
    return ServingRefusal();
  };
  EXPECT_FALSE(findZero(guess, low, high, excessAt, found.at));
  return found;
}

/// A line takes a step for its slope and one to its zero, from either side.
TEST(RootFindingTest, ALineTakesTwoSteps) {
  for (double guess : {1.0, 50.0, 1000.0}) {
    Found found =
        find(guess, 0, 1e6, [](double at) { return (100 - at) * 0.3; });
    EXPECT_NEAR(found.at, 100, 1e-6) << guess;
    EXPECT_LE(found.looks, 3) << guess;
  }
}

/// One that bends: x = 10 + x^2 / 50 has 13.82 and 36.18, of which the first is
/// found from below.
TEST(RootFindingTest, TheFirstOfSeveralIsFound) {
  Found found =
      find(0, 0, 1e6, [](double at) { return 10 + at * at / 50 - at; });
  EXPECT_NEAR(found.at, 25 - std::sqrt(125), 0.05);
  EXPECT_LE(found.looks, 7);
}

/// The end that it points to, where it has no zero between; where it is no
/// number, the last that was looked at.
TEST(RootFindingTest, EndsAreFound) {
  EXPECT_EQ(find(3, 1, 9, [](double) { return 1.0; }).at, 9);
  EXPECT_EQ(find(3, 1, 9, [](double) { return -1.0; }).at, 1);
  Found none = find(3, 1, 9, [](double) { return std::nan(""); });
  EXPECT_EQ(none.at, 3);
  EXPECT_EQ(none.looks, 1);
}

/// One that bends at its zero, where false position alone would keep an end.
TEST(RootFindingTest, BothEndsMove) {
  Found found = find(
      0, 0, 100, [](double at) { return at < 40 ? 40 - at : (40 - at) * 20; });
  EXPECT_NEAR(found.at, 40, 0.1);
  EXPECT_LE(found.looks, 8);
}
