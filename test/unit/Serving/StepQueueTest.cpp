//===- StepQueueTest.cpp - Prompts that wait for a step -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QueueModel/StepQueue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace autopar;
using namespace autopar::serving;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Steps of one engine as a Markov chain over the prompts of a step, which are
/// those that arrived in the step before; its stationary distribution by
/// iteration.
struct StepChain {
  static constexpr int most = 80;
  double rate;
  std::vector<double> timesUs, shares;
  std::vector<std::vector<double>> next;

  explicit StepChain(const StepQueue &queue)
      : rate(queue.arrivalsPerUs), timesUs(most), shares(most, 0) {
    shares[0] = 1;
    for (int count = 0; count < most; ++count) {
      timesUs[count] = count == 0 ? queue.decodeUs
                                  : queue.firstPromptUs +
                                        (count - 1) * queue.furtherPromptUs;
      next.push_back(arrivalsIn(timesUs[count]));
    }
    for (int round = 0; round < 300; ++round)
      shares = image(shares);
  }
  std::vector<double> arrivalsIn(double us) const {
    std::vector<double> of(most);
    double mean = rate * us;
    for (int i = 0; i < most; ++i)
      of[i] = std::exp(i * std::log(mean) - mean - std::lgamma(i + 1));
    return of;
  }
  std::vector<double> image(const std::vector<double> &of) const {
    std::vector<double> to(most, 0);
    for (int from = 0; from < most; ++from)
      for (int i = 0; i < most; ++i)
        to[i] += of[from] * next[from][i];
    return to;
  }
  double meanUs(const std::vector<double> &of) const {
    double sum = 0;
    for (int i = 0; i < most; ++i)
      sum += of[i] * timesUs[i];
    return sum;
  }
  double stepUs() const { return meanUs(shares); }
  double variance() const {
    double us = stepUs(), sum = 0;
    for (int i = 0; i < most; ++i)
      sum += shares[i] * (timesUs[i] - us) * (timesUs[i] - us);
    return sum;
  }
  /// What `steps` steps after one of `us` take beyond their mean.
  double excessAfter(double us, int steps) const {
    std::vector<double> now = arrivalsIn(us);
    double sum = -steps * stepUs();
    for (int step = 0; step < steps; ++step) {
      sum += meanUs(now);
      now = image(now);
    }
    return sum;
  }
};

StepQueue queueOf(double arrivalsPerUs, double decodeUs, double firstUs,
                  double furtherUs) {
  StepQueue queue;
  queue.arrivalsPerUs = arrivalsPerUs;
  queue.decodeUs = decodeUs;
  queue.firstPromptUs = firstUs;
  queue.furtherPromptUs = furtherUs;
  queue.maxPrompts = 1e6;
  queue.lengths = {1, 0, infinity, false};
  queue.settle(queue.decodeUs);
  return queue;
}

} // namespace

/// Few prompts that are long beside decoding, prompts that share most of a
/// step, many of both; the last ones take 0.9 of the time.
TEST(StepQueueTest, StepsAreThoseOfTheChain) {
  for (const StepQueue &queue :
       {queueOf(4.6e-3, 7.3, 75, 67.7), queueOf(7.4e-3, 40.6, 229.8, 28),
        queueOf(17.8e-3, 29.9, 73.9, 32.4), queueOf(2e-3, 23, 557, 60),
        queueOf(90e-3, 12, 14, 10)}) {
    StepChain chain(queue);
    EXPECT_NEAR(queue.step.mean / chain.stepUs(), 1, 2e-4);
    EXPECT_NEAR(queue.step.variance / chain.variance(), 1, 0.01);
    EXPECT_NEAR(queue.shareWithoutPrompts, chain.shares[0],
                2e-4 + 1e-3 * chain.shares[0]);
  }
}

/// The example of the class.
TEST(StepQueueTest, TheExampleHolds) {
  StepQueue queue = queueOf(0.01, 10, 40, 30);
  EXPECT_NEAR(queue.shareWithoutPrompts, 0.872, 0.001);
  EXPECT_NEAR(queue.step.mean, 14.29, 0.01);
}

/// Behind a prompt of its own, a request meets longer steps: the chain's bend
/// less than the line of the growth.
TEST(StepQueueTest, StepsBehindOnesOwnPromptAreThoseOfTheChain) {
  for (const StepQueue &queue :
       {queueOf(4.6e-3, 7.3, 75, 67.7), queueOf(17.8e-3, 29.9, 73.9, 32.4),
        queueOf(30e-3, 12, 24, 12)}) {
    constexpr int steps = 100;
    StepChain chain(queue);
    double met = queue.step.mean + queue.step.variance / queue.step.mean;
    double ownUs =
        queue.firstPromptUs + queue.arrivalsPerUs * queue.furtherPromptUs * met;
    double expected = chain.excessAfter(ownUs, steps) / steps;
    EXPECT_NEAR(queue.behindOwnPromptUs(steps), expected, 0.3 * expected);
  }
}

/// An engine that alternates decodes again when no prompt has arrived: 400,000
/// tokens are drawn.
TEST(StepQueueTest, AlternatingEnginesPrefillBetweenTokens) {
  constexpr int tokens = 400'000;
  StepQueue queue = queueOf(0, 20, 60, 30);
  queue.fusesPrompts = false;
  for (double load : {0.2, 0.5, 0.8}) {
    queue.arrivalsPerUs = load / 60;
    std::mt19937_64 random(1);
    double sumUs = 0;
    for (int i = 0; i < tokens; ++i)
      for (double stepUs = queue.decodeUs; stepUs > 0;) {
        sumUs += stepUs;
        double mean = queue.arrivalsPerUs * stepUs;
        int prompts = std::poisson_distribution<int>(mean)(random);
        stepUs = 0;
        if (prompts > 0)
          stepUs = queue.firstPromptUs + (prompts - 1) * queue.furtherPromptUs;
      }
    EXPECT_NEAR(queue.tokenUs(queue.decodeUs) / (sumUs / tokens), 1, 0.02)
        << load;
  }
}

/// Behind its own step, and what waited with it, no token takes longer than the
/// fullest step.
TEST(StepQueueTest, NoStepIsLongerThanAFullOne) {
  for (double load : {0.5, 0.8, 0.9, 0.97, 0.99}) {
    StepQueue queue = queueOf(0, 5, 40, 30);
    queue.maxPrompts = 1.3;
    queue.lengths = {1, 0.5, 1.3, true};
    queue.arrivalsPerUs = load / queue.fullUs();
    queue.settle(queue.decodeUs);
    for (double steps : {1.0, 20.0, 1000.0})
      EXPECT_LE(queue.step.mean + queue.behindOwnPromptUs(steps),
                queue.mostUs() * (1 + 1e-9))
          << load << " " << steps;
  }
}

/// Where the service is used to 0.9, prompts do not wait as if it were to 0.99.
TEST(StepQueueTest, PrefillTakesNoMoreThanTheUtilization) {
  StepQueue queue = queueOf(0, 5, 40, 30);
  queue.maxPrompts = 1.3;
  queue.lengths = {1, 0.5, 1.3, true};
  queue.arrivalsPerUs = 0.99 / queue.fullUs();
  queue.settle(queue.decodeUs);
  double aloneUs = queue.toFirstToken(1).mean();
  queue.utilization = 0.9;
  EXPECT_DOUBLE_EQ(queue.prefillLoad(), 0.9);
  EXPECT_LT(queue.toFirstToken(1).mean(), 0.2 * aloneUs);
}

/// 64 replicas prefill prompts of four steps side by side: the time between two
/// tokens grows by little more than one of them.
TEST(StepQueueTest, ReplicasPrefillLongPromptsSideBySide) {
  StepQueue queue = queueOf(0, 20, 400, 5);
  queue.fusesPrompts = false;
  queue.chunks = 4;
  queue.maxPrompts = 16;
  queue.lengths = queue.times = {64, 0, 0.25, true};
  queue.arrivalsPerUs = 0.3 / 1600;
  queue.settle(queue.decodeUs);
  double runUs = queue.tokenUs(20) - 20;
  double any = -std::expm1(-queue.arrivalsPerUs * 20);
  EXPECT_GT(runUs, any * 1600);
  EXPECT_LT(runUs, any * 1600 * 1.6);
}

/// Lengths that differ add 0.3 or 1.2 times what one of mean length does. Short
/// ones lack what a first prompt adds alone, long ones add to what each does.
TEST(StepQueueTest, TheSpreadOfLengthsCorrectsWhatPromptsAdd) {
  StepQueue queue;
  queue.furtherPromptUs = 10;
  queue.spread.added = 0.3;
  queue.setFirstPrompt(/*us=*/100, /*addedUs=*/90);
  EXPECT_NEAR(queue.firstPromptUs, 100 - 0.7 * 90, 1e-9);
  EXPECT_NEAR(queue.furtherPromptUs, 10 * 0.3, 1e-9);
  queue.furtherPromptUs = 10;
  queue.spread.added = 1.2;
  queue.setFirstPrompt(100, 90);
  EXPECT_NEAR(queue.firstPromptUs, 100 + 0.2 * 90, 1e-9);
  EXPECT_NEAR(queue.furtherPromptUs, 10 + 0.2 * 90, 1e-9);
}
