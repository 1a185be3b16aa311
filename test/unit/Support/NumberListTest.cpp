//===- NumberListTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/NumberList.h"

#include <gtest/gtest.h>

using namespace autopar;

using Counts = std::vector<int64_t>;
using Numbers = std::vector<double>;

static Counts counts(const char *text, int64_t most = 1 << 20) {
  Result<Counts> counts = readCounts("--batch", text, most);
  return counts ? *counts : Counts();
}

static Numbers numbers(const char *text) {
  Result<Numbers> numbers = readNumbers("--set=x", text);
  return numbers ? *numbers : Numbers();
}

TEST(NumberList, CountsRiseAndAreThereOnce) {
  EXPECT_EQ(counts("64"), Counts({64}));
  EXPECT_EQ(counts("32|8,16|8"), Counts({8, 16, 32}));
  EXPECT_EQ(counts("1..8"), Counts({1, 2, 4, 8}));
  EXPECT_EQ(counts("3..20|4k"), Counts({3, 6, 12, 4096}));
  EXPECT_EQ(counts("4k|1M"), Counts({4096, 1 << 20}));
}

TEST(NumberList, WhatIsNoCountIsNamed) {
  for (const char *text : {"", ",", "0", "-1", "8..4", "8..", "..8", "1.5", "x",
                           "1..8..16", "2M", "99999999999999999999"})
    EXPECT_FALSE(readCounts("--batch", text, 1 << 20)) << text;
  Result<Counts> none = readCounts("--batch", "0", 64);
  EXPECT_EQ(none.error().message, "--batch=0: expected numbers from 1 to 64");
}

TEST(NumberList, TheLargestCountsDoNotOverflow) {
  EXPECT_EQ(counts("1..1099511627776", int64_t(1) << 40).size(), 41U);
}

TEST(NumberList, NumbersMayBeAny) {
  EXPECT_EQ(numbers("4.8e12|2e12"), Numbers({2e12, 4.8e12}));
  EXPECT_EQ(numbers("0|-1"), Numbers({-1, 0}));
  EXPECT_EQ(numbers("0.25..1"), Numbers({0.25, 0.5, 1}));
  EXPECT_EQ(numbers("1e308..1e308").size(), 1U);
  for (const char *text : {"", "x", "1x", "inf", "nan", "0..1", "2..1"})
    EXPECT_FALSE(readNumbers("--set=x", text)) << text;
}
