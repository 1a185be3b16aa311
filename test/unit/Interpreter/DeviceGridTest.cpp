//===- DeviceGridTest.cpp - What of a dimension each device has -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/DeviceGrid.h"
#include "autopar/Interpreter/Execution.h"
#include "autopar/Interpreter/LocalTensor.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using Indices = std::vector<int64_t>;

TEST(PartOf, FollowsTheRules) {
  EXPECT_EQ(partOf(8, SplitRule::plain, 1, 4, 1), (Indices{2, 3}));
  // 5 over 3: blocks from floor(i * 5 / 3).
  EXPECT_EQ(partOf(5, SplitRule::any, 1, 3, 0), (Indices{0}));
  EXPECT_EQ(partOf(5, SplitRule::any, 1, 3, 1), (Indices{1, 2}));
  EXPECT_EQ(partOf(5, SplitRule::any, 1, 3, 2), (Indices{3, 4}));
  // 2 heads over 4 devices: each twice.
  EXPECT_EQ(partOf(2, SplitRule::cap, 1, 4, 1), (Indices{0}));
  EXPECT_EQ(partOf(2, SplitRule::cap, 1, 4, 2), (Indices{1}));
  EXPECT_EQ(partOf(8, SplitRule::cap, 1, 2, 1), (Indices{4, 5, 6, 7}));
  // 5 rounded up to 8, over 2: three of padding at the end.
  EXPECT_EQ(partOf(5, SplitRule::pad, 4, 2, 1), (Indices{4, -1, -1, -1}));
}

TEST(LocalTensor, SelectKeepsOrderAndPads) {
  LocalTensor tensor({2, 3});
  tensor.data = {0, 1, 2, 3, 4, 5};
  LocalTensor chosen = tensor.select(1, {2, -1, 0});
  EXPECT_EQ(chosen.shape, (Indices{2, 3}));
  EXPECT_EQ(chosen.data[0], 2);
  EXPECT_TRUE(std::isnan(chosen.data[1]));
  EXPECT_EQ(chosen.data[5], 3);
  EXPECT_EQ(tensor.select(0, {1}).data, (std::vector<double>{3, 4, 5}));
}

TEST(RandomNumber, FollowsFromNameAndIndex) {
  double sum = 0, square = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    double number = randomNumber("a", i);
    EXPECT_EQ(number, randomNumber("a", i));
    EXPECT_LE(std::abs(number), 1);
    sum += number;
    square += number * number;
  }
  // Even from -1 to 1: a mean of 0, a variance of 1/3.
  EXPECT_NEAR(sum / 10000, 0, 0.03);
  EXPECT_NEAR(square / 10000, 1. / 3, 0.02);
  EXPECT_NE(randomNumber("a", 0), randomNumber("b", 0));
}
