//===- TokenLengthsTest.cpp - How many tokens requests have ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Requests.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::program;

TEST(TokenLengthsTest, TextGoesBothWays) {
  for (const char *text : {"2000", "uniform:100..500", "lognormal:2000,0.8",
                           "histogram:128x3,4096x1"}) {
    Result<TokenLengths> lengths = TokenLengths::parse(text);
    ASSERT_TRUE(lengths) << text;
    EXPECT_EQ(lengths->str(), text);
  }
  EXPECT_EQ(TokenLengths::parse("2_000")->str(),
            TokenLengths::parse("2000")->str());
  EXPECT_EQ(TokenLengths::parse("uniform:7..7")->str(), "7");
}

TEST(TokenLengthsTest, WhatIsNoLengthIsRefused) {
  for (const char *text :
       {"", "0", "-1", "x", "uniform:5", "uniform:9..3", "lognormal:2000",
        "lognormal:2000,-1", "lognormal:2000,9", "histogram:", "histogram:5x0",
        "histogram:5", "lognormal:2000,nan"}) {
    Result<TokenLengths> lengths = TokenLengths::parse(text);
    ASSERT_FALSE(lengths) << text;
    EXPECT_NE(lengths.error().message.find("expected tokens"),
              std::string::npos);
  }
}

/// Means and variations by hand; of a log-normal law exp(0.8^2) - 1.
TEST(TokenLengthsTest, MomentsAreThoseOfTheLaw) {
  EXPECT_EQ(TokenLengths::parse("2000")->squaredVariation(), 0);
  TokenLengths uniform = *TokenLengths::parse("uniform:1..3");
  EXPECT_DOUBLE_EQ(uniform.mean(), 2);
  EXPECT_NEAR(uniform.squaredVariation(), 2.0 / 3 / 4, 1e-12);
  TokenLengths lognormal = *TokenLengths::parse("lognormal:2000,0.8");
  EXPECT_EQ(lognormal.mean(), 2000);
  EXPECT_NEAR(lognormal.squaredVariation(), std::exp(0.64) - 1, 1e-12);
  TokenLengths histogram = *TokenLengths::parse("histogram:100x3,500x1");
  EXPECT_DOUBLE_EQ(histogram.mean(), 200);
  EXPECT_NEAR(histogram.squaredVariation(), 30000.0 / 40000, 1e-12);
  EXPECT_DOUBLE_EQ(TokenLengths::of({500, 100, 100, 100}).mean(), 200);
}

TEST(TokenLengthsTest, DrawsFollowTheLaw) {
  for (const char *text : {"2000", "uniform:100..500", "lognormal:2000,0.6",
                           "histogram:128x3,4096x1"}) {
    TokenLengths lengths = *TokenLengths::parse(text);
    std::mt19937_64 random(1);
    double sum = 0, squares = 0;
    constexpr int count = 200000;
    for (int i = 0; i < count; ++i) {
      auto tokens = static_cast<double>(lengths.draw(random));
      ASSERT_GE(tokens, 1);
      sum += tokens;
      squares += tokens * tokens;
    }
    double mean = sum / count;
    EXPECT_NEAR(mean, lengths.mean(), 0.01 * mean) << text;
    EXPECT_NEAR(squares / count / (mean * mean) - 1, lengths.squaredVariation(),
                0.02 * (1 + lengths.squaredVariation()))
        << text;
  }
}

/// A normal variate has half below its mean, and 0.8413 below a deviation more.
TEST(TokenLengthsTest, LengthsHaveTheRanksOfNormalVariates) {
  auto at = [](const char *text, double deviations) {
    return TokenLengths::parse(text)->atDeviations(deviations);
  };
  EXPECT_EQ(at("2000", 2), 2000);
  EXPECT_DOUBLE_EQ(at("uniform:100..500", 0), 300);
  EXPECT_NEAR(at("uniform:100..500", 1), 436.5, 0.1);
  EXPECT_DOUBLE_EQ(at("lognormal:2000,0.8", 0.4), 2000);
  EXPECT_EQ(at("histogram:128x3,4096x1", 0), 128);
  EXPECT_EQ(at("histogram:128x3,4096x1", 1), 4096);
  EXPECT_EQ(at("histogram:128x3,4096x1", 9), 4096);
}

/// Weights, which are kept as sums, come back as they were given.
TEST(TokenLengthsTest, HasThePartsOfItsText) {
  using Tokens = std::vector<int64_t>;
  using Numbers = std::vector<double>;
  TokenLengths uniform = *TokenLengths::parse("uniform:100..500");
  EXPECT_EQ(uniform.tokens(), (Tokens{100, 500}));
  EXPECT_EQ(uniform.numbers(), Numbers());
  TokenLengths lognormal = *TokenLengths::parse("lognormal:2000,0.8");
  EXPECT_EQ(lognormal.tokens(), Tokens{2000});
  EXPECT_EQ(lognormal.numbers(), Numbers{0.8});
  TokenLengths histogram = *TokenLengths::parse("histogram:128x3,4096x1");
  EXPECT_EQ(histogram.tokens(), (Tokens{128, 4096}));
  EXPECT_EQ(histogram.numbers(), (Numbers{3, 1}));
  EXPECT_EQ(TokenLengths::parse("300")->tokens(), Tokens{300});
}
