//===- PromptQueue.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromptQueue.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

double PromptQueue::fullUs() const {
  return (firstUs + (perStep * pieces - 1) * moreUs) / perStep;
}

double PromptQueue::load() const { return ratePerUs * fullUs(); }

/// A step that reads k prompts takes `firstUs + (k - 1) * moreUs`, one that
/// reads none `decodeUs`; k is of Poisson's law, whose mean is what comes in a
/// step. A prompt of several steps comes as so many.
TimeMoments PromptQueue::step() const {
  double rate = ratePerUs * pieces;
  double base = firstUs - moreUs, growth = rate * moreUs;
  TimeMoments step;
  step.mean = decodeUs;
  // The share of steps without prompts follows from the mean, and back.
  for (int i = 0; i < 4; ++i) {
    double none = std::exp(-rate * step.mean);
    double fixed = none * decodeUs + (1 - none) * base;
    step.mean = growth < 1 ? fixed / (1 - growth) : firstUs;
    step.mean = std::clamp(step.mean, std::min(decodeUs, firstUs),
                           std::max(decodeUs, fullUs() * perStep));
  }
  double none = std::exp(-rate * step.mean);
  double jump = base - decodeUs;
  double squares = moreUs * moreUs * (1 + squaredVariation);
  step.variance =
      (squares * rate * step.mean + jump * jump * none * (1 - none)) /
      (1 - std::min(0.99, growth * growth));
  return step;
}

/// Steps of prompts follow each other for as long as any comes in the one
/// before: replicas that step together read several in hardly more than the
/// time of one. A step has what came in it, if anything did.
double PromptQueue::decodeAndRunsUs() const {
  constexpr int rounds = 30;
  double prompts = 1, stepUs = firstUs;
  for (int i = 0; i < rounds; ++i) {
    double come = ratePerUs * pieces * stepUs;
    prompts = std::clamp(come / -std::expm1(-come), 1.0,
                         std::max(1.0, perStep * pieces));
    stepUs = firstUs + (prompts - 1) * moreUs;
  }
  double any = -std::expm1(-ratePerUs * pieces * decodeUs);
  double steps = any * std::exp(ratePerUs * pieces * stepUs);
  return decodeUs + steps * stepUs;
}

/// Where prompts have steps of their own, they come between two that decode.
double PromptQueue::decodeAndPromptsUs() const {
  // Prompts beside the first one take much less than that.
  constexpr double less = 0.7;
  if (fusesPrompts)
    return step().mean;
  if (moreUs < less * firstUs)
    return decodeAndRunsUs();
  double none = std::exp(-ratePerUs * decodeUs);
  double together = ratePerUs * decodeUs / std::max(1e-9, 1 - none);
  together = std::clamp(together, 1.0, std::max(1.0, perStep));
  double each = (firstUs + (together - 1) * moreUs) / together;
  if (pieces > 1)
    each = fullUs();
  return decodeUs / std::max(1e-3, 1 - ratePerUs * each);
}

double PromptQueue::promptUs() const { return moreUs * pieces; }

double PromptQueue::varianceOfSum() const {
  double growth = std::min(0.9, ratePerUs * promptUs());
  return step().variance * (1 + growth) / (1 - growth);
}

double PromptQueue::afterOwnUs(double steps) const {
  TimeMoments cycle = step();
  double met = cycle.mean + cycle.variance / cycle.mean;
  double growth = std::min(0.99, ratePerUs * moreUs * pieces);
  // Its own step, others of the step before it, too.
  double longer = firstUs * pieces + ratePerUs * moreUs * met -
                  (fusesPrompts ? cycle.mean * pieces : 0);
  double all = growth * (1 - std::pow(growth, steps)) / (1 - growth);
  return std::max(0.0, longer) * all;
}

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
  if (turns <= 1)
    return;
  time.shareBehind *= shareOfTurns();
  double less = (1 / turns + squaredVariation) / (1 + squaredVariation);
  double beyond = std::max(0.0, time.behind.mean - time.alone.mean);
  time.behind.mean -= beyond * (1 - less);
  time.behind.variance *= less * less;
}

FirstTokenTime PromptQueue::toFirstToken(double busy) const {
  TimeMoments cycle = step();
  double variation = cycle.variance / (cycle.mean * cycle.mean);
  // Of the step that a prompt comes in: longer ones have more of them. Third
  // moments as those of a gamma distribution.
  double met = cycle.mean * (1 + variation);
  double metSquare =
      cycle.mean * cycle.mean * (1 + variation) * (1 + 2 * variation);
  double used = std::min(load(), 0.999);
  double room = 1 - 1 / std::max(1.0, perStep);
  double beside = ratePerUs * moreUs * room;
  double besideSquare = beside * moreUs * (1 + squaredVariation);
  double none = std::exp(-ratePerUs * pieces * cycle.mean);
  double gated = std::clamp(1 - none * decodeUs / cycle.mean, 1e-9, 1.0);
  FirstTokenTime time;
  time.shareBehind = room * gated + (1 - room) * used;
  double own = firstUs * pieces;
  double ownVariance = spreadUs * spreadUs;
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
  // Those that find no room in the next step wait for further ones, as for one
  // of so many servers (Sakasegawa 1977, DOI 10.1007/BF02911707).
  double servers = std::max(1.0, perStep);
  double waits = std::pow(used, std::sqrt(2 * (servers + 1)) - 1);
  double wait = waits * fullUs() * (1 + squaredVariation) / (2 * (1 - used));
  if (time.shareBehind > 0 && waits > 0) {
    double part = std::min(1.0, waits / time.shareBehind);
    double each = wait / time.shareBehind;
    time.behind.mean += each;
    time.behind.variance += each * each * (2 / part - 1);
  }
  takeTurns(time);
  for (TimeMoments *one : {&time.alone, &time.behind}) {
    one->mean += own;
    one->variance += ownVariance;
  }
  return time;
}
