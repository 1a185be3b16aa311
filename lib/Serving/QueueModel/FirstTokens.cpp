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

/// The rest of the step that a prompt arrives in, and the work of the prompts
/// beside it in the next one. The step has the mean and mean square given here
/// and ends at any time; `workPerUs` and `workSquarePerUs` are mean and square
/// of the work that arrives in 1 us.
static TimeMoments restAndBeside(double meanUs, double squareUs,
                                 double workPerUs, double workSquarePerUs) {
  double share = 0.5 + workPerUs;
  TimeMoments time;
  time.mean = meanUs * share;
  time.variance = squareUs * (1.0 / 12 + share * share) +
                  workSquarePerUs * meanUs - time.mean * time.mean;
  return time;
}

/// The share of the prompts that arrive in the same step as a given one for
/// which the next step has room beside it. Every replica of a group has a
/// step's room.
double StepQueue::shareBeside() const {
  return lengths.replicas > 1 ? 1 : 1 - 1 / std::max(1.0, maxPrompts);
}

/// P(a prompt finds no room in the next step), as in a queue of S servers
/// (Sakasegawa 1977, DOI 10.1007/BF02911707). Replicas in lock step have room
/// until they saturate.
double StepQueue::shareThatWaits() const {
  if (lengths.replicas > 1)
    return 0;
  double servers = std::max(1.0, maxPrompts);
  double busy = std::min(prefillLoad(), mostLoad);
  return std::pow(busy, std::sqrt(2 * (servers + 1)) - 1);
}

/// Mean wait of all prompts for room, in us (Pollaczek-Khinchine for the
/// lengths).
double StepQueue::waitUs() const {
  double busy = std::min(prefillLoad(), mostLoad);
  return shareThatWaits() * fullUs() * (1 + spread.addedVariation) /
         (2 * (1 - busy));
}

/// Prompts that are dealt to groups in turn arrive at one of them by Erlang's
/// distribution: how much rarer one follows another within a step with prompts.
double StepQueue::shareOfTurns() const {
  // Beyond 64 stages, the times between arrivals are constant to 13 %.
  constexpr double mostStages = 64;
  double met = arrivalsPerUs * firstPromptUs, between = groups * met;
  double term = std::exp(-between), fewer = 0;
  for (int i = 0; i < static_cast<int>(std::min(groups, mostStages)); ++i) {
    fewer += term;
    term *= between / (i + 1);
  }
  return std::max(0.0, 1 - fewer) / -std::expm1(-met);
}

/// Waits shrink with the mean squared variation of arrivals and of prefill
/// (Kingman 1961, DOI 10.1017/S0305004100036094).
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
  // The step at an arrival is drawn by its length; its third moment is that of
  // a gamma distribution.
  double variation = step.variance / (step.mean * step.mean);
  double met = step.mean * (1 + variation);
  double metSquare = step.mean * met * (1 + 2 * variation);
  double room = shareBeside();
  double workPerUs = arrivalsPerUs * furtherUs * room;
  double workSquarePerUs = workPerUs * furtherUs * (1 + spread.addedVariation);
  // The share of the time in steps with prompts; at least 1e-9, as it divides.
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
  // Prompts without room beside the running step wait below instead.
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
  // The third moment of a gamma distribution.
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
  // Half of the step at an arrival, which is drawn by its length.
  double restUs = (step.mean + step.variance / step.mean) / 2;
  parts.stepUs = std::min(us - parts.prefillUs, busy * restUs);
  parts.queueUs = us - parts.prefillUs - parts.stepUs;
  return parts;
}
