//===- TokenTimes.cpp - From a token to the next --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FalsePosition.h"
#include "LengthIntegral.h"
#include "ServiceTimes.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

/// How much longer a request takes for each more that decodes, as far as it
/// ends at all.
static constexpr double mostGrowth = 0.95;

/// Of so many in replicas that step together, those of the one that has most:
/// each request goes to the one that has fewest.
static double ofLargest(double requests, double together) {
  double even = requests / together;
  return std::max(1.0, even + (together - 1) / (2 * together));
}

/// The steps that a request meets beside so many others, where tokens take
/// about so long.
ServingRefusal Server::queueAmong(const ServedLoad &load, double most,
                                  double others, double tokenUs,
                                  PromptQueue &queue, StepTime &decode) {
  double together = prices.togetherCount();
  double running = std::min(most / together, ofLargest(1 + others, together));
  return queueOf(load, running, tokenUs, queue, decode);
}

/// How many others a request meets of those that come while it decodes.
static double othersOf(const ServedLoad &load, const PromptQueue &queue,
                       double tokenUs) {
  double wholeUs = tokenUs * decodedSteps(load);
  return queue.ratePerUs * wholeUs * queue.shareOfOthers(wholeUs);
}

/// The prompts that it meets, of those of the queue.
static PromptQueue metBy(const ServedLoad &load, const PromptQueue &queue,
                         double tokenUs) {
  PromptQueue met = queue;
  met.ratePerUs *= queue.shareThatComes(decodedSteps(load) * tokenUs);
  return met;
}

/// From a token to the next among so many others: `us`, which is about that.
ServingRefusal Server::tokenAmong(const ServedLoad &load, double most,
                                  double others, PromptQueue &queue,
                                  StepTime &decode, double &us) {
  if (auto refusal = queueAmong(load, most, others, us, queue, decode))
    return refusal;
  us = metBy(load, queue, us).tokenUs(us);
  return {};
}

/// From a token to the next where as many others decode as come meanwhile,
/// beside those that began with a request: `us`, which is about that.
ServingRefusal Server::findToken(const ServedLoad &load, double most,
                                 Bend &bend, PromptQueue &queue,
                                 StepTime &decode, double &us) {
  auto excessAt = [&](double tokenUs, double &excess) {
    double others = othersOf(load, queue, tokenUs) + bend.companions;
    double unbentUs = tokenUs / bend.share;
    if (auto refusal = queueAmong(load, most, others, unbentUs, queue, decode))
      return refusal;
    PromptQueue met = metBy(load, queue, unbentUs);
    excess = met.tokenUsAfter(unbentUs) * bend.share - tokenUs;
    return ServingRefusal();
  };
  // No more than have room (Little's law).
  double mostUs = most / (queue.ratePerUs * decodedSteps(load));
  double fall = 1 - bend.growth;
  if (auto refusal = findZero(us, fall, 0, mostUs, excessAt, us))
    return refusal;
  bend.growth = std::clamp(1 - fall, 0.0, mostGrowth);
  queue.settle(queue.stepUsOf(us / bend.share));
  return {};
}

/// A token takes in the mean over how many decode what it does where they are
/// as many fewer and more than their mean as they deviate: `bend` is that over
/// what it takes with the mean. Steps that grow with what they decode keep it
/// away from its mean for longer: of servers that share, the variance over the
/// mean is 1 / (1 - growth) (BCMP 1975), the more where several begin at once.
ServingRefusal Server::bendOver(const ServedLoad &load, double most,
                                double tokenUs, PromptQueue &queue,
                                StepTime &decode, Bend &bend) {
  // Steps are straight over what so many vary by, and a parabola over what so
  // many more are.
  constexpr double little = 3e-3, near = 0.05;
  double others = othersOf(load, queue, tokenUs), at = tokenUs / bend.share;
  // Whoever is there meets those that began with it beside the mean of others.
  // Of the time of two that began in one step, both have the shorter one's.
  double before = bend.companions;
  bend.companions =
      smallerOfTwo(load.answerVariation) * (queue.dispersion() - 1);
  double variance = others * (1 + bend.companions) / (1 - bend.growth);
  if (variance < little * others * others)
    return {};
  others += bend.companions;
  double few = std::max(0.0, others - std::sqrt(variance));
  double below = others - few;
  if (below <= 0)
    return {};
  double above = variance / below;
  double more = bend.companions - before;
  bool isNear = more * more < near * variance;
  if (!isNear)
    if (auto refusal = tokenAmong(load, most, others, queue, decode, at))
      return refusal;
  double fewUs = at, manyUs = at;
  if (auto refusal = tokenAmong(load, most, few, queue, decode, fewUs))
    return refusal;
  if (auto refusal =
          tokenAmong(load, most, others + above, queue, decode, manyUs))
    return refusal;
  double slope = (manyUs - fewUs) / (above + below);
  if (isNear)
    at += slope * more;
  bend.share = (fewUs * above + manyUs * below) / ((above + below) * at);
  bend.growth =
      std::clamp(queue.ratePerUs * decodedSteps(load) * slope, 0.0, mostGrowth);
  return {};
}

/// Of Poisson's law, a request meets one more than there are in the mean. All
/// counts are of replicas that step together; `us` is from token to token,
/// about that before.
ServingRefusal Server::findRunning(const ServedLoad &load, double most,
                                   PromptQueue &queue, StepTime &decode,
                                   double &us) {
  constexpr int rounds = 2;
  constexpr double near = 0.01;
  Bend bend;
  if (auto refusal = findToken(load, most, bend, queue, decode, us))
    return refusal;
  double before = 0;
  for (int i = 0; i < rounds && std::abs(us - before) > near * us; ++i) {
    before = us;
    if (auto refusal = bendOver(load, most, us, queue, decode, bend))
      return refusal;
    if (auto refusal = findToken(load, most, bend, queue, decode, us))
      return refusal;
  }
  return {};
}
