//===- ErrorsTest.cpp - How far predictions are off -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/Errors.h"
#include "autopar/Validation/Statistics.h"

#include <gtest/gtest.h>

#include <limits>

using namespace autopar;
using namespace autopar::validation;

namespace {

TEST(Quantile, IsLinearBetweenValues) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({7}, 0.9), 7);
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  // numpy.percentile([1, 2, 3, 4], 90) is 3.7.
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.9), 3.7);
  EXPECT_EQ(quantile({1, 2, 3, 4}, 1), 4);
}

TEST(ErrorFigures, ByHand) {
  // Errors +10 %, -20 %, +30 %, -40 %, and a row without a prediction.
  ErrorFigures figures =
      errorFigures({{10, 11}, {10, 8}, {10, 13}, {10, 6}, {10, {}}});
  EXPECT_EQ(figures.rows, 5u);
  EXPECT_EQ(figures.n, 4u);
  EXPECT_DOUBLE_EQ(figures.coverage(), 0.8);
  EXPECT_NEAR(figures.mape, 0.25, 1e-12);
  EXPECT_NEAR(figures.median, 0.25, 1e-12);
  EXPECT_NEAR(figures.p90, 0.37, 1e-12);
  EXPECT_NEAR(figures.bias, -0.05, 1e-12);
}

TEST(ErrorFigures, SharesHaveTheirBounds) {
  // 1/8 and 1/4 are exact.
  ErrorFigures figures = errorFigures({{8, 8}, {8, 9}, {8, 10}, {8, 12}});
  EXPECT_EQ(figures.within10, 0.25);
  EXPECT_EQ(figures.within20, 0.5);
  EXPECT_EQ(figures.within30, 0.75);
}

TEST(ErrorFigures, NothingPredicted) {
  ErrorFigures figures = errorFigures({{10, {}}});
  EXPECT_EQ(figures.rows, 1u);
  EXPECT_EQ(figures.n, 0u);
  EXPECT_EQ(figures.mape, 0);
  EXPECT_EQ(errorFigures({}).coverage(), 0);
}

TEST(ErrorFigures, WhatIsNoTimeIsNoPrediction) {
  double infinity = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(
      errorFigures({{10, infinity}, {10, nan}, {10, 0}, {10, -1}, {0, 1}}).n,
      0u);
}

TEST(ErrorTable, GroupsAreInOrder) {
  std::vector<MeasuredPoint> points = {{10, 11}, {10, 12}, {10, 13}};
  std::vector<GroupKey> keys = {{"b", 2}, {"a", 2}, {"z", 1}};
  ErrorTable table = errorTable("x", points, [&](size_t i) { return keys[i]; });
  ASSERT_EQ(table.groups.size(), 3u);
  EXPECT_EQ(table.groups[0].key, "z");
  EXPECT_EQ(table.groups[1].key, "a");
  EXPECT_NEAR(table.groups[1].figures.mape, 0.2, 1e-12);
  EXPECT_EQ(table.groups[2].key, "b");
}

TEST(Buckets, OfConcurrency) {
  EXPECT_EQ(concurrencyBucket(1).text, "1 to 4");
  EXPECT_EQ(concurrencyBucket(4).text, "1 to 4");
  EXPECT_EQ(concurrencyBucket(5).text, "5 to 16");
  EXPECT_EQ(concurrencyBucket(1024).text, "257 to 1,024");
  EXPECT_EQ(concurrencyBucket(int64_t(1) << 62).text,
            "274,877,906,945 to 1,099,511,627,776");
}

TEST(Buckets, OfLengths) {
  EXPECT_EQ(lengthBucket(1000, 8192).text, "1k + 8k");
  EXPECT_EQ(lengthBucket(128, 100).text, "128 + 128");
  EXPECT_EQ(lengthBucket(1, 1).text, "1 + 1");
  EXPECT_LT(lengthBucket(1024, 8192), lengthBucket(8192, 1));
  EXPECT_LT(lengthBucket(1024, 1024), lengthBucket(1024, 8192));
}

} // namespace
