//===- LargestReadTest.cpp - The replica that reads most ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargestRead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace autopar;
using namespace autopar::serving;

namespace {

/// Replicas whose requests end at random, and of which each new one goes to the
/// first that has fewest.
struct Dealer {
  std::vector<int> requests;
  std::mt19937_64 random = std::mt19937_64(1);

  explicit Dealer(int replicas) : requests(replicas, 0) {}

  void end() {
    auto last = static_cast<int>(requests.size()) - 1;
    --requests[std::uniform_int_distribution<int>(0, last)(random)];
  }
  size_t add() {
    auto fewest = std::min_element(requests.begin(), requests.end());
    ++*fewest;
    return static_cast<size_t>(fewest - requests.begin());
  }
  int count(double mean) {
    return std::poisson_distribution<int>(mean)(random);
  }
  /// The most of `added` requests that one replica gets.
  int largestOf(int added) {
    std::vector<int> gets(requests.size(), 0);
    for (int i = 0; i < added; ++i)
      ++gets[add()];
    return *std::max_element(gets.begin(), gets.end());
  }
};

} // namespace

/// In each step as many end as come, in the mean: fewer meet than of counts of
/// Poisson's law, whose largest of two with mean 1 is 1.5237, and more than of
/// those that are dealt in turn, P(1 or more) + P(3 or more) + ... = 1.2454.
TEST(LargestReadTest, RequestsGoWhereFewestAre) {
  ReplicaReads reads{2, 0, 100, true};
  EXPECT_LT(reads.largest(2), 1.5237);
  EXPECT_GT(reads.largestOfEven(2), 1.2454);
  EXPECT_LT(reads.largestOfEven(2), reads.largest(2));
  for (int replicas : {2, 4, 8, 16})
    for (double prompts : {0.3, 1.0, 1.6, 3.0, 6.0, 12.0}) {
      constexpr int steps = 50'000;
      Dealer dealer(replicas);
      double sum = 0;
      for (int i = 0; i < steps; ++i) {
        for (int ends = dealer.count(prompts); ends > 0; --ends)
          dealer.end();
        sum += dealer.largestOf(dealer.count(prompts));
      }
      ReplicaReads many{static_cast<double>(replicas), 0, 100, true};
      double expected = sum / steps;
      EXPECT_NEAR(many.largest(prompts), expected, 0.05 * expected)
          << replicas << " " << prompts;
    }
}

/// Of two that come at once to replicas whose requests come and end one by one,
/// both go to one of r with 2/3/r.
TEST(LargestReadTest, TwoMeetRarely) {
  for (int replicas : {2, 4, 8}) {
    constexpr int rounds = 40'000, between = 20;
    Dealer dealer(replicas);
    double meet = 0;
    for (int i = 0; i < rounds; ++i) {
      for (int j = 0; j < between; ++j)
        if (dealer.random() & 1)
          dealer.add();
        else
          dealer.end();
      Dealer now = dealer;
      meet += now.largestOf(2) - 1;
    }
    EXPECT_NEAR(meet / rounds, 2.0 / 3 / replicas, 0.01) << replicas;
  }
}

/// Of two, where two come after two have ended: 1/e of what ended on one of
/// them is beyond its first, and 0.4763 is the fewer of two counts with mean 1.
TEST(LargestReadTest, ReplicasHaveAsManyAgain) {
  ReplicaReads reads{2, 0, 100, true};
  EXPECT_NEAR(reads.shareUneven(2), std::exp(-1) * (1 - 0.4763), 1e-3);
  EXPECT_LT(reads.shareUneven(0.01), 0.01);
  EXPECT_LT(reads.shareUneven(200), reads.shareUneven(20));
}

/// Of one that has room for one, half of the steps read; what waits is that of
/// a queue in discrete time, m^2 / (2 * (1 - m)) = 1/4 of a prompt.
TEST(LargestReadTest, WhatHasNoRoomWaits) {
  ReplicaReads reads{1, 0, 1, true};
  EXPECT_NEAR(reads.largest(0.5), 0.5, 1e-3);
  Unread unread = reads.unread(0.5);
  EXPECT_NEAR(unread.steps, 0.5, 2e-3);
  EXPECT_NEAR(unread.share, 2 * std::log(2.0) - 1, 2e-3);
  EXPECT_EQ(reads.unread(0).steps, 0);
}

/// A prompt of four steps waits for no other where nothing else comes: that it
/// is read in pieces is its own.
TEST(LargestReadTest, PiecesOfOnesOwnDoNotWait) {
  for (double variation : {0.0, 0.36}) {
    ReplicaReads reads{8, variation, 0.27, true};
    Unread rare = reads.unread(1e-5), more = reads.unread(0.2);
    EXPECT_LT(rare.share, 0.02) << variation;
    EXPECT_LT(rare.steps, 0.05) << variation;
    EXPECT_GT(more.steps, rare.steps) << variation;
  }
}

/// The more comes, the more often some of it is left.
TEST(LargestReadTest, MoreIsCutWhereMoreComes) {
  ReplicaReads reads{1, 0.9, 1.03, true};
  double before = 0;
  for (double prompts = 0.05; prompts < 50; prompts *= 1.1) {
    double cut = reads.shareCut(prompts);
    EXPECT_GE(cut, before - 5e-3) << prompts;
    EXPECT_LE(cut, 1 + 1e-9) << prompts;
    before = cut;
  }
}

/// The largest of none, one and many; no more than there is room for.
TEST(LargestReadTest, LengthsThatDiffer) {
  LengthLaw law{0, 1, 0.36};
  double infinity = HUGE_VAL;
  EXPECT_NEAR(law.longest(1, infinity), 1, 1e-3);
  // Of two normal ones 1/sqrt(pi) deviations above the mean; of log-normal
  // ones 2 * N(deviation / sqrt(2)), exactly.
  double deviation = std::sqrt(std::log1p(0.36));
  EXPECT_NEAR(law.longest(2, infinity), std::erfc(-deviation / 2), 2e-3);
  EXPECT_LT(law.longest(8, 1.5), 1.5);
  EXPECT_GT(law.longest(8, 1.5), 1.4);
}

/// Of log-normal lengths, one in two of which is nothing: 400,000 are drawn.
TEST(LargestReadTest, LengthsThatAreLimited) {
  constexpr int draws = 400'000;
  LengthLaw law{0.5, 1, 0.36};
  double spread = std::log1p(0.36);
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> length(-spread / 2, std::sqrt(spread));
  for (double most : {0.5, 1.0, 2.5}) {
    double mean = 0, idle = 0;
    for (int i = 0; i < draws; ++i) {
      double now = i % 2 == 0 ? 0 : std::min(most, length(random));
      mean += now / draws;
      idle += (most - now) * (most - now) / draws;
    }
    EXPECT_NEAR(law.limited(most), mean, 5e-3 * mean) << most;
    EXPECT_NEAR(law.idleSquare(most), idle, 5e-3 * idle) << most;
  }
  EXPECT_DOUBLE_EQ(law.limited(HUGE_VAL), 0.5);
  // The room is left where nothing comes.
  EXPECT_DOUBLE_EQ(LengthLaw({1, 1, 0.36}).idleSquare(3), 9);
}

/// Prompts of log-normal lengths that are dealt in turn, from any replica on:
/// what is read most, with room and without.
TEST(LargestReadTest, EvenReadsAreThoseOfADealer) {
  constexpr int steps = 100'000;
  constexpr double variation = 0.43;
  double spread = std::log1p(variation), infinity = HUGE_VAL;
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> length(-spread / 2, std::sqrt(spread));
  for (int replicas : {2, 8})
    for (double prompts : {0.4, 1.5, 5.0, 20.0})
      for (double room : {1.5, infinity}) {
        std::poisson_distribution<int> counts(prompts);
        double sum = 0;
        for (int i = 0; i < steps; ++i) {
          std::vector<double> reads(replicas, 0);
          for (int left = counts(random); left > 0; --left)
            reads[left % replicas] += length(random);
          double most = *std::max_element(reads.begin(), reads.end());
          sum += std::min(room, most) / steps;
        }
        ReplicaReads even{static_cast<double>(replicas), variation, room, true};
        EXPECT_NEAR(even.largestOfEven(prompts), sum, 0.015 * sum)
            << replicas << " " << prompts << " " << room;
      }
}

/// Full replicas all read as much; very many have as many each.
TEST(LargestReadTest, ManyAreEven) {
  for (double variation : {0.0, 0.36}) {
    ReplicaReads reads{8, variation, 2, true};
    EXPECT_NEAR(reads.largest(15.9), 2, 1e-2) << variation;
    EXPECT_EQ(reads.largest(1e6), 2) << variation;
    EXPECT_DOUBLE_EQ(reads.largestToRead(8e6), 1e6) << variation;
  }
}

/// Of 64 replicas, 500 prompts are 8 for each: what the one with most of them
/// reads grows on.
TEST(LargestReadTest, ManyReplicasHaveFewEach) {
  for (double variation : {0.0, 0.3})
    for (double prompts : {128.0, 500.0, 700.0}) {
      ReplicaReads reads{64, variation, 1000, true};
      EXPECT_NEAR(reads.largest(prompts + 1) - reads.largest(prompts - 1), 0.03,
                  0.08)
          << prompts;
      EXPECT_NEAR(reads.largestOfEven(prompts + 1) -
                      reads.largestOfEven(prompts - 1),
                  0.03, 0.08)
          << prompts;
    }
}
