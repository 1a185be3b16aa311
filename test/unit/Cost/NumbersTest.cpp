//===- NumbersTest.cpp - Functions that give the same bits everywhere -----===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace autopar;
using namespace autopar::cost;

//===----------------------------------------------------------------------===//
// Logarithms and powers
//===----------------------------------------------------------------------===//

using Function = double (*)(double);

namespace {

/// One of Numbers.h, the library's in more bits, and where it is used.
struct Approximation {
  const char *name;
  Function own;
  long double (*reference)(long double);
  double from, to;
};

} // namespace

static const Approximation approximations[] = {
    {"log2", log2Of<double>, std::log2, 1e-300, 1e300},
    {"log2", log2Of<double>, std::log2, 0.5, 2},
    {"log2", log2Of<double>, std::log2, 1, 1e12},
    {"exp2", exp2Of<double>, std::exp2, -1000, 1000},
    {"exp2", exp2Of<double>, std::exp2, -2, 40},
    {"expm1", expm1Of<double>, std::expm1, -50, 0},
    {"expm1", expm1Of<double>, std::expm1, -1, 0},
    {"expm1", expm1Of<double>, std::expm1, -1e-9, 0},
    {"log1p", log1pOf<double>, std::log1p, -1 + 1e-16, 0},
    {"log1p", log1pOf<double>, std::log1p, -0.5, 0},
    {"log1p", log1pOf<double>, std::log1p, -1e-9, 0},
    {"cbrt", cbrtOf<double>, std::cbrt, 1, 2},
};

/// The distance of `value` from `expected`, in units of its last place.
static double unitsOff(double value, long double expected) {
  auto nearest = static_cast<double>(expected);
  double unit = std::fabs(
      std::nextafter(nearest, std::numeric_limits<double>::infinity()) -
      nearest);
  return static_cast<double>(std::fabs(value - expected) / unit);
}

/// Even over the range or, where that spans many powers of two, over them.
static double pick(const Approximation &one, std::mt19937_64 &random) {
  if (one.from > 0 && one.to / one.from > 1e6)
    return std::exp2(std::uniform_real_distribution<double>(
        std::log2(one.from), std::log2(one.to))(random));
  return std::uniform_real_distribution<double>(one.from, one.to)(random);
}

TEST(Numbers, AreThoseOfTheLibrary) {
  std::mt19937_64 random(1);
  for (const Approximation &one : approximations) {
    double worst = 0, at = 0;
    for (int i = 0; i < 200'000; ++i) {
      double x = pick(one, random);
      double off = unitsOff(one.own(x), one.reference(x));
      if (off > worst) {
        worst = off;
        at = x;
      }
    }
    EXPECT_LE(worst, 4) << one.name << " at " << at;
    EXPECT_LE(unitsOff(one.own(one.from), one.reference(one.from)), 4)
        << one.name;
    EXPECT_LE(unitsOff(one.own(one.to), one.reference(one.to)), 4) << one.name;
  }
}

/// More bytes never take less time: neighbours a few units in the last place
/// apart may share a value, and what is further apart rises.
TEST(Numbers, NeverFall) {
  std::mt19937_64 random(2);
  for (const Approximation &one : approximations)
    for (int i = 0; i < 200'000; ++i) {
      double x = pick(one, random);
      double next = std::min(x + std::fabs(x) * 1e-14, one.to);
      ASSERT_LE(one.own(x), one.own(next)) << one.name << " at " << x;
    }
}

TEST(Numbers, RoundWholeNumbers) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    int64_t b = 1 + static_cast<int64_t>(random() >> (11 + i % 50));
    int64_t a = static_cast<int64_t>(random() >> 11);
    auto x = static_cast<double>(a), y = static_cast<double>(b);
    EXPECT_EQ(floorQuotient(x, y), static_cast<double>(a / b));
    EXPECT_EQ(ceilQuotient(x, y), static_cast<double>((a + b - 1) / b));
    double z = static_cast<double>(random() >> 20) / 1024;
    EXPECT_EQ(wholeBelow(z), std::floor(z));
    EXPECT_EQ(wholeAbove(z), std::ceil(z));
    EXPECT_EQ(nearest(z), std::nearbyint(z));
  }
}

//===----------------------------------------------------------------------===//
// Physics
//===----------------------------------------------------------------------===//

TEST(SmoothMaximum, EqualsPowAtEachExponent) {
  for (double q : {1.0, 1.5, 2.0, 3.0, 4.0})
    for (double a : {0.0, 1e-3, 1.0, 3.0, 1e6})
      for (double b : {1e-6, 1.0, 2.5, 1e6}) {
        double expected = std::pow(std::pow(a, q) + std::pow(b, q), 1 / q);
        EXPECT_NEAR(smoothMaximum(a, b, q) / expected, 1, 1e-12);
      }
}

TEST(SmoothMaximum, CountsByHand) {
  EXPECT_DOUBLE_EQ(smoothMaximum(3.0, 4.0, 1), 7);
  EXPECT_DOUBLE_EQ(smoothMaximum(3.0, 4.0, 2), 5);
  EXPECT_NEAR(smoothMaximum(8.0, 8.0, 3), 8 * std::cbrt(2), 1e-12);
  // Of an exponent of 0, the maximum itself.
  EXPECT_DOUBLE_EQ(smoothMaximum(3.0, 4.0, 0), 4);
  EXPECT_DOUBLE_EQ(smoothMaximum(0.0, 0.0, 4), 0);
  // Fourth powers of these would overflow and vanish.
  EXPECT_DOUBLE_EQ(smoothMaximum(1e200, 1e-200, 4), 1e200);
}

TEST(DistinctExperts, CountByHand) {
  EXPECT_DOUBLE_EQ(distinctExperts(8.0, 2.0, 0.0), 0);
  EXPECT_NEAR(distinctExperts(8.0, 2.0, 1.0), 2, 1e-12);
  // 8 * (1 - (3/4)^2).
  EXPECT_NEAR(distinctExperts(8.0, 2.0, 2.0), 3.5, 1e-12);
  EXPECT_NEAR(distinctExperts(256.0, 8.0, 4.0),
              256 * (1 - std::pow(31. / 32, 4)), 1e-9);
  EXPECT_DOUBLE_EQ(distinctExperts(8.0, 8.0, 3.0), 8);
  EXPECT_DOUBLE_EQ(distinctExperts(8.0, 2.0, 1e9), 8);
}

TEST(DistinctExperts, MoreTokensReachMore) {
  for (double experts : {2.0, 60.0, 256.0})
    for (double topK = 1; topK < experts; topK *= 2) {
      double before = 0;
      for (double tokens = 0.25; tokens < 1e6; tokens *= 1.01) {
        double reached = distinctExperts(experts, topK, tokens);
        ASSERT_LE(before, reached);
        ASSERT_LE(reached, experts);
        before = reached;
      }
    }
}

TEST(QuarterShare, CountsByHand) {
  // Even choices, to the last bit.
  for (uint32_t quarter : {0, 1, 2, 3})
    EXPECT_EQ(quarterShare(0.0, quarter), 1);
  // sqrt(4) * (sqrt(i + 1) - sqrt(i)).
  EXPECT_NEAR(quarterShare(0.5, 0), 2, 1e-14);
  EXPECT_NEAR(quarterShare(0.5, 1), 2 * (std::sqrt(2) - 1), 1e-14);
  EXPECT_NEAR(quarterShare(0.5, 3), 2 * (2 - std::sqrt(3)), 1e-14);
  for (double skew : {0.1, 0.6, 0.95}) {
    double sum = 0, before = 5;
    for (uint32_t quarter : {0, 1, 2, 3}) {
      double share = quarterShare(skew, quarter);
      EXPECT_LT(share, before);
      before = share;
      sum += share;
    }
    EXPECT_NEAR(sum, 4, 1e-13);
  }
}
