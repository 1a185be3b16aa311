//===- PromptQueueTest.cpp - Prompts that wait for a step -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromptQueue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace autopar;
using namespace autopar::serving;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Steps of one engine that read all that came in the one before, which of one
/// length takes `firstUs` and `moreUs`: their law, by its own image.
struct StepChain {
  static constexpr int most = 80;
  std::vector<double> timesUs, law;
  std::vector<std::vector<double>> next;

  explicit StepChain(const PromptQueue &queue)
      : timesUs(most), law(most, 0), next(most) {
    law[0] = 1;
    for (int count = 0; count < most; ++count) {
      timesUs[count] = count == 0 ? queue.decodeUs
                                  : queue.firstUs + (count - 1) * queue.moreUs;
      double come = queue.ratePerUs * timesUs[count];
      next[count].resize(most);
      for (int i = 0; i < most; ++i)
        next[count][i] =
            std::exp(i * std::log(come) - come - std::lgamma(i + 1));
    }
    for (int round = 0; round < 300; ++round)
      law = image(law);
  }
  std::vector<double> image(const std::vector<double> &of) const {
    std::vector<double> to(most, 0);
    for (int from = 0; from < most; ++from)
      for (int i = 0; i < most; ++i)
        to[i] += of[from] * next[from][i];
    return to;
  }
  template <typename Value>
  double mean(Value value) const {
    double sum = 0;
    for (int i = 0; i < most; ++i)
      sum += law[i] * value(i);
    return sum;
  }
  double stepUs() const {
    return mean([&](int i) { return timesUs[i]; });
  }
  double variance() const {
    double us = stepUs();
    return mean([&](int i) { return (timesUs[i] - us) * (timesUs[i] - us); });
  }
  /// Variance over mean of what comes in many steps in a row.
  double dispersion() const {
    double count = mean([](int i) { return i; });
    double all = mean([&](int i) { return (i - count) * (i - count); });
    std::vector<double> weighed(most);
    for (int i = 0; i < most; ++i)
      weighed[i] = law[i] * (i - count);
    for (int round = 0; round < 200; ++round) {
      weighed = image(weighed);
      for (int i = 0; i < most; ++i)
        all += 2 * weighed[i] * (i - count);
    }
    return all / count;
  }
};

PromptQueue queueOf(double ratePerUs, double decodeUs, double firstUs,
                    double moreUs) {
  PromptQueue queue;
  queue.ratePerUs = ratePerUs;
  queue.decodeUs = decodeUs;
  queue.firstUs = firstUs;
  queue.moreUs = moreUs;
  queue.perStep = queue.mostLength = 1e6;
  queue.reads = {1, 0, infinity, false};
  queue.settle(queue.decodeUs);
  return queue;
}

} // namespace

/// Few prompts that are long beside what decodes, prompts that share most of a
/// step, many of both; at last, of each microsecond prompts take 0.9.
TEST(PromptQueueTest, StepsAreThoseOfTheChain) {
  for (const PromptQueue &queue :
       {queueOf(4.6e-3, 7.3, 75, 67.7), queueOf(7.4e-3, 40.6, 229.8, 28),
        queueOf(17.8e-3, 29.9, 73.9, 32.4), queueOf(2e-3, 23, 557, 60),
        queueOf(90e-3, 12, 14, 10)}) {
    StepChain chain(queue);
    EXPECT_NEAR(queue.step.mean / chain.stepUs(), 1, 2e-4);
    EXPECT_NEAR(queue.step.variance / chain.variance(), 1, 0.01);
    EXPECT_NEAR(queue.dispersion() / chain.dispersion(), 1, 0.15);
  }
}

/// Where one and a half have room, two do not: of 0.1 in the mean, P(2 or more)
/// / P(1 or more) is 0.00468 / 0.09516.
TEST(PromptQueueTest, WhatHasNoRoomIsCut) {
  ReplicaReads reads{1, 0, 1.5, true};
  EXPECT_NEAR(reads.shareCut(0.1), 0.00468 / 0.09516, 0.01);
  ReplicaReads whole{1, 0, 1.5, false};
  EXPECT_EQ(whole.shareCut(0.1), 0);
  // Any of several replicas.
  ReplicaReads several{4, 0, 1.5, true};
  EXPECT_LT(several.shareCut(0.1), reads.shareCut(0.1));
}

/// What is left of a prompt is read in a step of its own where nothing else
/// comes: of tokens that come and are read as far as a step has room for 1.4
/// prompts, so many steps read none.
TEST(PromptQueueTest, CutPromptsTakeFurtherSteps) {
  constexpr double room = 1.4;
  PromptQueue queue = queueOf(1.7e-2, 4.7, 37.2, 25.6);
  PromptQueue cut = queue;
  cut.perStep = cut.mostLength = room;
  cut.reads = {1, 0, room, true};
  cut.settle(cut.decodeUs);
  EXPECT_GT(cut.step.mean, queue.step.mean);
  std::mt19937_64 random(1);
  constexpr int steps = 400'000;
  double left = 0, sumUs = 0, stepUs = queue.decodeUs;
  for (int i = 0; i < steps; ++i) {
    left += std::poisson_distribution<int>(queue.ratePerUs * stepUs)(random);
    double read = std::min(left, room);
    left -= read;
    stepUs = queue.decodeUs;
    if (read > 0)
      stepUs = queue.firstUs + (read - 1) * queue.moreUs;
    sumUs += stepUs;
  }
  EXPECT_NEAR(cut.step.mean / (sumUs / steps), 1, 0.02);
}

/// Behind its own step, and what waited with it, no token takes longer than the
/// fullest step, whatever comes.
TEST(PromptQueueTest, NoStepIsLongerThanAFullOne) {
  for (double load : {0.5, 0.8, 0.9, 0.97, 0.99}) {
    PromptQueue queue = queueOf(0, 5, 40, 30);
    queue.perStep = queue.mostLength = 1.3;
    queue.reads = {1, 0.5, 1.3, true};
    queue.ratePerUs = load / queue.fullUs();
    queue.settle(queue.decodeUs);
    for (double steps : {1.0, 20.0, 1000.0}) {
      StepCounts counts;
      counts.fill(steps);
      EXPECT_LE(queue.step.mean + queue.afterOwnUs(counts),
                queue.mostUs() * (1 + 2e-3))
          << load << " " << steps;
    }
  }
}

/// Prompts take no larger share of the time than all that comes does of what is
/// served: where that is 0.9, they do not wait as if they came at 0.99.
TEST(PromptQueueTest, PromptsWaitNoMoreThanAllThatComes) {
  PromptQueue queue = queueOf(0, 5, 40, 30);
  queue.perStep = queue.mostLength = 1.3;
  queue.reads = {1, 0.5, 1.3, true};
  queue.ratePerUs = 0.99 / queue.fullUs();
  queue.settle(queue.decodeUs);
  double alone = queue.waitUs();
  queue.used = 0.9;
  EXPECT_DOUBLE_EQ(queue.load(), 0.9);
  EXPECT_LT(queue.waitUs(), 0.1 * alone);
}

/// Replicas read prompts of several steps side by side: where they come to 64
/// of them, a run is little longer than one of them.
TEST(PromptQueueTest, ReplicasReadLongPromptsSideBySide) {
  PromptQueue queue = queueOf(0, 20, 400, 5);
  queue.fusesPrompts = false;
  queue.together = 64;
  queue.pieces = 4;
  queue.mostLength = 0.25;
  queue.perStep = 16;
  queue.reads = queue.times = {64, 0, 0.25, true};
  queue.ratePerUs = 0.3 / 1600;
  queue.settle(queue.decodeUs);
  double runUs = queue.tokenUs(20) - 20;
  double without = std::exp(-queue.ratePerUs * 20);
  EXPECT_GT(runUs, (1 - without) * 1600);
  EXPECT_LT(runUs, (1 - without) * 1600 * 1.6);
}

/// Of two engines where one request is in the mean, three share one of them
/// twice, four four times, five eight: P(3) * 2 + P(4) * 4 + ... = 0.2162, over
/// 0.5. Of eight, a dealer that gives each to the first that has fewest.
TEST(PromptQueueTest, FewestIsWhereRequestsGo) {
  PromptQueue queue = queueOf(0.5, 1, 1, 1);
  EXPECT_EQ(queue.shareOfOthers(1), 1);
  queue.turns = 2;
  EXPECT_NEAR(queue.shareOfOthers(1), 0.4323, 1e-3);
  EXPECT_NEAR(queue.shareOfOthers(3.999), queue.shareOfOthers(4.001), 0.02);
  queue.turns = 8;
  std::mt19937_64 random(1);
  for (double each : {0.3, 1.0, 3.0, 6.0}) {
    constexpr int requests = 40'000;
    std::exponential_distribution<double> between(8 * each);
    std::vector<std::pair<double, int>> ends;
    std::vector<double> counts(8, 0);
    double now = 0, pairs = 0, all = 0;
    size_t ended = 0;
    auto advance = [&](double to) {
      for (double count : counts) {
        pairs += (to - now) * count * (count - 1);
        all += (to - now) * count;
      }
      now = to;
    };
    for (int i = 0; i < requests; ++i) {
      double come = now + between(random);
      for (; ended < ends.size() && ends[ended].first < come; ++ended) {
        advance(ends[ended].first);
        --counts[ends[ended].second];
      }
      advance(come);
      auto fewest = std::min_element(counts.begin(), counts.end());
      ++*fewest;
      ends.emplace_back(now + 1, static_cast<int>(fewest - counts.begin()));
    }
    EXPECT_NEAR(queue.shareOfOthers(each / queue.ratePerUs) * each, pairs / all,
                0.1)
        << each;
  }
}

/// Lengths that differ add 0.3 or 1.2 times what one of mean length does. Short
/// ones lack what a first prompt adds alone, long ones add to what each does.
TEST(PromptQueueTest, FurtherPromptsAddSomething) {
  PromptQueue queue;
  queue.moreUs = 10;
  queue.law.added = 0.3;
  queue.addFirst(/*us=*/100, /*addedByOneUs=*/90);
  EXPECT_NEAR(queue.firstUs, 100 - 0.7 * 90, 1e-9);
  EXPECT_NEAR(queue.moreUs, 10 * 0.3, 1e-9);
  queue.moreUs = 10;
  queue.law.added = 1.2;
  queue.addFirst(100, 90);
  EXPECT_NEAR(queue.firstUs, 100 + 0.2 * 90, 1e-9);
  EXPECT_NEAR(queue.moreUs, 10 + 0.2 * 90, 1e-9);
}
