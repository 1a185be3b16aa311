//===- ReplicaPromptsTest.cpp - The replica that reads most
//------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QueueModel/ReplicaPrompts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace autopar;
using namespace autopar::serving;

namespace {

/// Deals each request to the first of the replicas with fewest; requests end on
/// random replicas.
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

/// In each step as many requests end as arrive in the mean: fewer meet on a
/// replica than of two Poisson counts with mean 1, whose larger one is 1.5237.
TEST(ReplicaPromptsTest, RequestsGoWhereFewestAre) {
  EXPECT_LT(ReplicaPrompts({2, 0, 100, true}).largest(2), 1.5237);
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
      ReplicaPrompts many{static_cast<double>(replicas), 0, 100, true};
      double expected = sum / steps;
      EXPECT_NEAR(many.largest(prompts), expected, 0.05 * expected)
          << replicas << " " << prompts;
    }
}

/// Two requests that arrive at once, where others arrive and end one by one, go
/// to the same one of r replicas with 2/3/r.
TEST(ReplicaPromptsTest, TwoMeetRarely) {
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

/// Work is conserved: what has no room in a step is prefilled in later ones, so
/// a replica prefills in the mean what arrives.
TEST(ReplicaPromptsTest, OneReplicaPrefillsWhatArrives) {
  for (double variation : {0.0, 0.36})
    for (double prompts : {0.2, 0.5, 0.8}) {
      ReplicaPrompts one{1, variation, 1, true};
      EXPECT_NEAR(one.largest(prompts), prompts, 0.01 * prompts)
          << variation << " " << prompts;
    }
}

/// 100,000 draws of Poisson numbers of log-normal lengths on each replica.
TEST(ReplicaPromptsTest, TheLongestOfLengthsThatDiffer) {
  constexpr int draws = 100'000;
  constexpr double variation = 0.43;
  double spread = std::log1p(variation);
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> length(-spread / 2, std::sqrt(spread));
  for (int replicas : {2, 8})
    for (double prompts : {0.4, 1.5, 5.0, 20.0}) {
      std::poisson_distribution<int> counts(prompts / replicas);
      double mean = 0;
      for (int i = 0; i < draws; ++i) {
        double longest = 0;
        for (int replica = 0; replica < replicas; ++replica) {
          double sum = 0;
          for (int left = counts(random); left > 0; --left)
            sum += length(random);
          longest = std::max(longest, sum);
        }
        mean += longest / draws;
      }
      ReplicaPrompts all{static_cast<double>(replicas), variation, 1, true};
      EXPECT_NEAR(all.largestUnlimited(prompts), mean, 0.03 * mean)
          << replicas << " " << prompts;
    }
}

/// P(a prompt is longer than the limit): exact for one length, and a half at
/// the median of a log-normal length.
TEST(ReplicaPromptsTest, PromptsOverTheLimit) {
  EXPECT_EQ(ReplicaPrompts({1, 0, 1.5, false}).shareOverLimit(1), 0);
  EXPECT_EQ(ReplicaPrompts({1, 0, 1.5, false}).shareOverLimit(2), 1);
  double median = std::exp(-std::log1p(0.36) / 2);
  EXPECT_NEAR(ReplicaPrompts({1, 0.36, median, false}).shareOverLimit(1), 0.5,
              1e-9);
}

/// Replicas that are full prefill the same, and so do those with very many
/// prompts.
TEST(ReplicaPromptsTest, ManyPromptsAreEven) {
  for (double variation : {0.0, 0.36}) {
    ReplicaPrompts full{8, variation, 2, true};
    EXPECT_NEAR(full.largest(15.9), 2, 1e-2) << variation;
    EXPECT_EQ(full.largest(1e6), 2) << variation;
    EXPECT_DOUBLE_EQ(full.largestUnlimited(8e6), 1e6) << variation;
  }
}

/// 500 prompts on 64 replicas are 8 on each: the largest share grows smoothly.
TEST(ReplicaPromptsTest, ManyReplicasHaveFewPromptsEach) {
  for (double variation : {0.0, 0.3})
    for (double prompts : {128.0, 500.0, 700.0}) {
      ReplicaPrompts many{64, variation, 1000, true};
      EXPECT_NEAR(many.largest(prompts + 1) - many.largest(prompts - 1), 0.03,
                  0.08)
          << prompts;
    }
}
