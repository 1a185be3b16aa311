//===- CountTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Count.h"

#include "gtest/gtest.h"

using namespace autopar;

TEST(Count, UnitsAndUnderscores) {
  EXPECT_EQ(parseCount("131072"), 131072);
  EXPECT_EQ(parseCount("131_072"), 131072);
  EXPECT_EQ(parseCount("128k"), 131072);
  EXPECT_EQ(parseCount("1M"), 1048576);
  EXPECT_EQ(parseCount("-1"), -1);
  EXPECT_EQ(parseCount("9223372036854775807"), INT64_MAX);
}

TEST(Count, WhatIsNone) {
  for (const char *text :
       {"", "k", "1kk", "1.5k", "_1", "1_", "1__0", "1_k", "0x10", " 1", "1 ",
        "+1", "9223372036854775808", "9223372036854775807k", "1G"})
    EXPECT_FALSE(parseCount(text)) << text;
}
