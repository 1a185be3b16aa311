//===- FirstTokens.cpp - How long prompts wait for a step -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepQueue.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

/// Returns the moments of a sum of two times: the rest of the step in which a
/// prompt arrives, and the work of the prompts that the next step prefills
/// beside it. The step has the given mean and mean square and ends at any time;
/// `workPerUs` and `workSquarePerUs` are mean and mean square of the work that
/// arrives in 1 us.
static TimeMoments restAndBeside(double meanUs, double squareUs,
                                 double workPerUs, double workSquarePerUs) {
  double share = 0.5 + workPerUs;
  TimeMoments time;
  time.mean = meanUs * share;
  time.variance = squareUs * (1.0 / 12 + share * share) +
                  workSquarePerUs * meanUs - time.mean * time.mean;
  return time;
}

/// Of the prompts that arrive in the same step as a given prompt, returns the
/// share that has room beside it in the next step. In a lock-step group, every
/// replica has the room of a whole step.
double StepQueue::shareBeside() const {
  return lengths.replicas > 1 ? 1 : 1 - 1 / std::max(1.0, maxPrompts);
}

/// Returns the probability that a prompt finds no room in the next step, as in
/// a queue of S servers (Sakasegawa 1977, DOI 10.1007/BF02911707). Replicas in
/// lock step have room until they saturate.
double StepQueue::shareThatWaits() const {
  if (lengths.replicas > 1)
    return 0;
  double servers = std::max(1.0, maxPrompts);
  double busy = std::min(prefillLoad(), mostLoad);
  return std::pow(busy, std::sqrt(2 * (servers + 1)) - 1);
}

/// Returns the mean time in us that prompts wait for room, over all prompts
/// (Pollaczek-Khinchine for the lengths).
double StepQueue::waitUs() const {
  double busy = std::min(prefillLoad(), mostLoad);
  return shareThatWaits() * fullUs() * (1 + spread.addedVariation) /
         (2 * (1 - busy));
}

/// Returns how much rarer one prompt follows another within a step with prompts
/// because prompts are dealt to the groups in turn: they arrive at a group by
/// Erlang's distribution.
double StepQueue::shareOfTurns() const {
  // With more than 64 stages, the times between arrivals are constant within 13
  // %.
  constexpr double mostStages = 64;
  double met = arrivalsPerUs * firstPromptUs, between = groups * met;
  double term = std::exp(-between), fewer = 0;
  for (int i = 0; i < static_cast<int>(std::min(groups, mostStages)); ++i) {
    fewer += term;
    term *= between / (i + 1);
  }
  return std::max(0.0, 1 - fewer) / -std::expm1(-met);
}

/// Shortens the waits of `time`: they shrink with the mean squared variation of
/// arrivals and of prefills (Kingman 1961, DOI 10.1017/S0305004100036094).
void StepQueue::takeTurns(FirstTokenTime &time) const {
  if (groups <= 1 || arrivalsPerUs <= 0)
    return;
  double variation = spread.addedVariation;
  double less = (1 / groups + variation) / (1 + variation);
  double beyond = std::max(0.0, time.behind.mean - time.alone.mean);
  time.shareBehind *= shareOfTurns();
  time.behind.mean -= beyond * (1 - less);
  time.behind.variance *= less * less;
}

FirstTokenTime StepQueue::toFirstToken(double busy) const {
  // The step that runs at an arrival is drawn by its length. Its third moment
  // is assumed to be that of a gamma distribution.
  double variation = step.variance / (step.mean * step.mean);
  double met = step.mean * (1 + variation);
  double metSquare = step.mean * met * (1 + 2 * variation);
  double room = shareBeside();
  double workPerUs = arrivalsPerUs * furtherUs * room;
  double workSquarePerUs = workPerUs * furtherUs * (1 + spread.addedVariation);
  // The share of the time that steps with prompts take. It is at least 1e-9,
  // because it is a divisor.
  double prefilling =
      std::clamp(1 - shareWithoutPrompts * decodeUs / step.mean, 1e-9, 1.0);
  double restUs = busy * decodeUs;
  FirstTokenTime time;
  time.shareBehind =
      room * prefilling + (1 - room) * std::min(prefillLoad(), mostLoad);
  time.alone = restAndBeside(restUs, restUs * decodeUs,
                             room > 0 ? workPerUs : 0, workSquarePerUs);
  double decodingUs = (1 - prefilling) * decodeUs;
  double longUs = std::max(0.0, (met - decodingUs) / prefilling);
  double longSquare = std::max(
      longUs * longUs, (metSquare - decodingUs * decodeUs) / prefilling);
  time.behind = restAndBeside(longUs, longSquare, workPerUs, workSquarePerUs);
  // Prompts without room beside the running step are counted below, as those
  // that wait.
  double share =
      time.shareBehind > 0 ? room * prefilling / time.shareBehind : 0;
  double apart = time.behind.mean - restUs / 2;
  time.behind.variance =
      share * time.behind.variance + share * (1 - share) * apart * apart;
  time.behind.mean = share * time.behind.mean + (1 - share) * restUs / 2;
  double waits = shareThatWaits();
  if (time.shareBehind > 0 && waits > 0) {
    double part = std::min(1.0, waits / time.shareBehind);
    double eachUs = waitUs() / time.shareBehind;
    time.behind.mean += eachUs;
    time.behind.variance += eachUs * eachUs * (2 / part - 1);
  }
  takeTurns(time);
  // The third moment is that of a gamma distribution.
  time.behind.third = 2 * time.behind.variance * time.behind.variance /
                      std::max(1e-9, time.behind.mean);
  time.add(own);
  return time;
}

FirstTokenParts StepQueue::partsOf(const FirstTokenTime &time,
                                   double busy) const {
  FirstTokenParts parts;
  double us = time.mean();
  parts.prefillUs = std::min(us, own.mean);
  // The wait for the running step: half of a step that is drawn by its length.
  double restUs = (step.mean + step.variance / step.mean) / 2;
  parts.stepUs = std::min(us - parts.prefillUs, busy * restUs);
  parts.queueUs = us - parts.prefillUs - parts.stepUs;
  return parts;
}
