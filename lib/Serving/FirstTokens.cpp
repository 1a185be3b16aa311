//===- FirstTokens.cpp - How long prompts wait for a step -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromptQueue.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

/// A step that a prompt comes in lasts, and then one that reads whatever came
/// in it: `beside` is what comes in a microsecond. Of steps of such a mean and
/// mean square.
static TimeMoments afterStep(double meanUs, double squareUs, double beside,
                             double besideSquare) {
  TimeMoments time;
  time.mean = meanUs * (0.5 + beside);
  time.variance = squareUs * (1.0 / 12 + (0.5 + beside) * (0.5 + beside)) +
                  besideSquare * meanUs - time.mean * time.mean;
  return time;
}

/// Where each request goes to one of the engines that have fewest, all have as
/// many, or one more: of N of Poisson's law, as many pairs share an engine. Of
/// many, what is left after the last full round is any.
double PromptQueue::shareOfOthers(double us) const {
  constexpr double many = 2;
  double each = ratePerUs * us, all = each * turns;
  if (turns <= 1 || each <= 0)
    return 1;
  if (each > many)
    return 1 - (1 - 1 / turns) / each +
           (1 - 1 / (turns * turns)) / (6 * each * each);
  double term = std::exp(-all), pairs = 0;
  double last = all + 10 * std::sqrt(all) + 10;
  for (int count = 1; count < last; ++count) {
    term *= all / count;
    double rounds = std::floor(count / turns);
    double left = count - rounds * turns;
    pairs += term * rounds * (turns * (rounds - 1) + 2 * left);
  }
  return pairs / (all * each);
}

/// Prompts of an engine that come within so long of one of them, over those of
/// any time: it gets each of so many that come of Poisson's law.
double PromptQueue::shareThatComes(double us) const {
  constexpr double many = 4;
  double inMean = ratePerUs * us;
  if (turns <= 1 || inMean <= 0)
    return 1;
  // The renewal function of Erlang's law, and what it is soon (Cox 1962).
  if (inMean > many)
    return 1 - (turns - 1) / (2 * turns * inMean);
  double come = inMean * turns, term = std::exp(-come), met = 0;
  double last = come + 10 * std::sqrt(come) + 10;
  for (int i = 1; i < last; ++i) {
    term *= come / i;
    met += term * std::floor(i / turns);
  }
  return met / inMean;
}

/// How much rarer prompts meet those before them that are dealt to engines in
/// turn: times between them are sums of as many of exponential laws (Erlang).
double PromptQueue::shareOfTurns() const {
  if (turns <= 1)
    return 1;
  double met = ratePerUs * firstUs, between = turns * met;
  // That fewer than so many come in that time, as of Poisson's law.
  double term = std::exp(-between), fewer = 0;
  for (int i = 0; i < static_cast<int>(std::min(turns, 64.0)); ++i) {
    fewer += term;
    term *= between / (i + 1);
  }
  return std::max(0.0, 1 - fewer) / -std::expm1(-met);
}

/// Prompts that are dealt in turn come more evenly: fewer of them wait, and for
/// less (Kingman 1961: as the mean of both squared variations).
void PromptQueue::takeTurns(FirstTokenTime &time) const {
  if (turns <= 1 || ratePerUs <= 0)
    return;
  time.shareBehind *= shareOfTurns();
  double less = (1 / turns + law.squaredVariation) / (1 + law.squaredVariation);
  double beyond = std::max(0.0, time.behind.mean - time.alone.mean);
  time.behind.mean -= beyond * (1 - less);
  time.behind.variance *= less * less;
}

FirstTokenTime PromptQueue::toFirstToken(double busy) const {
  double variation = step.variance / (step.mean * step.mean);
  // Of the step that a prompt comes in: longer ones have more of them. Third
  // moments as those of a gamma distribution.
  double met = step.mean * (1 + variation);
  double metSquare =
      step.mean * step.mean * (1 + variation) * (1 + 2 * variation);
  double busyReading = std::min(load(), mostLoad);
  double room = shareBeside();
  double each = steady.eachUs, beside = ratePerUs * each * room;
  double besideSquare = beside * each * (1 + law.squaredVariation);
  double gated = std::clamp(1 - steady.none * decodeUs / step.mean, 1e-9, 1.0);
  FirstTokenTime time;
  time.shareBehind = room * gated + (1 - room) * busyReading;
  time.alone = afterStep(busy * decodeUs, busy * decodeUs * decodeUs,
                         room > 0 ? beside : 0, besideSquare);
  // Steps with prompts; where there is no room beside, the wait below is for
  // those.
  double longUs = std::max(0.0, (met - (1 - gated) * decodeUs) / gated);
  double longSquare = std::max(
      longUs * longUs, (metSquare - (1 - gated) * decodeUs * decodeUs) / gated);
  time.behind = afterStep(longUs, longSquare, beside, besideSquare);
  double share = time.shareBehind > 0 ? room * gated / time.shareBehind : 0;
  double left = busy * decodeUs / 2;
  time.behind.variance = share * time.behind.variance +
                         share * (1 - share) * (time.behind.mean - left) *
                             (time.behind.mean - left);
  time.behind.mean = share * time.behind.mean + (1 - share) * left;
  double waits = shareThatWaits(), wait = waitUs();
  if (time.shareBehind > 0 && waits > 0) {
    double part = std::min(1.0, waits / time.shareBehind);
    double waitEach = wait / time.shareBehind;
    time.behind.mean += waitEach;
    time.behind.variance += waitEach * waitEach * (2 / part - 1);
  }
  takeTurns(time);
  // As of a gamma law.
  time.behind.third = 2 * time.behind.variance * time.behind.variance /
                      std::max(1e-9, time.behind.mean);
  time.add(own);
  return time;
}

FirstTokenParts PromptQueue::partsOf(const FirstTokenTime &time,
                                     double busy) const {
  FirstTokenParts parts;
  double us = time.mean();
  parts.readUs = std::min(us, own.mean);
  // Half of a step, and long ones have more that come in them.
  double leftUs = (step.mean + step.variance / step.mean) / 2;
  parts.stepUs = std::min(us - parts.readUs, busy * leftUs);
  parts.queueUs = us - parts.readUs - parts.stepUs;
  return parts;
}
