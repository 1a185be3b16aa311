//===- PromptQueue.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromptQueue.h"

#include "FalsePosition.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

static constexpr double mostLoad = 0.999;

double PromptQueue::fullUs() const {
  double ofOne = std::max(1.0, perStep / together) - 1;
  double more = (perStep * pieces - 1) * moreUs + ofOne * longestUs;
  return (firstUs + more) / perStep;
}

double PromptQueue::eachUs(double prompts, bool areEven) const {
  constexpr double fewest = 0.1;
  if (longestUs <= 0)
    return moreUs;
  prompts = std::max(prompts, fewest);
  double any = -std::expm1(-prompts);
  double most = areEven ? reads.largestOfEven(prompts) : reads.largest(prompts);
  return moreUs + longestUs * std::max(0.0, most - any) / (prompts - any);
}

double PromptQueue::eachUs(double prompts) const {
  return eachUs(prompts, !fusesPrompts);
}

/// Where steps that read any read so many in the mean.
double PromptQueue::eachOfSomeUs(double prompts) const {
  if (longestUs <= 0)
    return moreUs;
  // Of Poisson's law, as many as make that without those that read none.
  constexpr int rounds = 5;
  double all = prompts;
  for (int i = 0; i < rounds; ++i) {
    double none = std::exp(-all);
    all -= (all - prompts * (1 - none)) / std::max(0.01, 1 - prompts * none);
  }
  return eachUs(all);
}

/// Until all that came at once are read, by the replica that gets most.
double PromptQueue::fullRunUs(double prompts) const {
  double most = reads.largestToRead(prompts);
  double steps = std::max(1.0, most / reads.most + 0.5);
  return steps * (firstUs - moreUs - longestUs) + moreUs * prompts +
         longestUs * most;
}

double PromptQueue::load() const { return ratePerUs * fullUs(); }

/// How far iterates of the generating function of what comes beside a prompt
/// are below 1, from 0 on: of Poisson's law, and lengths of a gamma law.
struct PromptQueue::Iterates {
  static constexpr int most = 64;
  int count = 0;
  double below[most];

  Iterates(double growth, double squaredVariation) {
    constexpr double least = 1e-3;
    double now = 1;
    while (count < most && now > least) {
      below[count++] = now;
      double come = growth * now;
      if (squaredVariation > 0)
        come = std::log1p(squaredVariation * come) / squaredVariation;
      now = -std::expm1(-come);
    }
  }
};

/// The share of steps that have no prompts, of those that read what came in the
/// one before. With N in one, the generating function of N in the next is
/// exp(-rate * its time * (1 - s)), which makes that of N its own image: at 0
/// it is the share, which its iterates have as a factor (Resing 1993, DOI
/// 10.1007/BF01149263).
double PromptQueue::shareWithout(double each) const {
  double rate = ratePerUs * pieces;
  Iterates iterates(std::min(mostLoad, rate * each), law.squaredVariation);
  double constant = 1, factor = 0;
  for (int i = iterates.count - 1; i >= 0; --i) {
    double below = rate * iterates.below[i];
    double some = std::exp(-below * (firstUs - each));
    constant *= some;
    factor = std::exp(-below * decodeUs) + some * (factor - 1);
  }
  return std::clamp(constant / (1 - factor), 0.0, 1.0);
}

/// A step that reads k prompts takes `firstUs + (k - 1) * each`, one that reads
/// none `decodeUs`; k is of Poisson's law, whose mean is what comes in a step.
/// A prompt of several steps comes as so many.
TimeMoments PromptQueue::step() const {
  double rate = ratePerUs * pieces, none = 1, each = moreUs;
  double least = std::min(decodeUs, firstUs),
         most = std::max(decodeUs, fullUs() * perStep);
  // The mean where `prompts` come in the one before.
  auto after = [&](double prompts) {
    each = eachUs(prompts);
    none = shareWithout(each);
    return none * decodeUs + (1 - none) * (firstUs - each) + each * prompts;
  };
  TimeMoments step;
  double fixed = after(0), growth = rate * each;
  step.mean = growth < 1 ? fixed / (1 - growth) : firstUs;
  step.mean = std::clamp(step.mean, least, most);
  auto excessAt = [&](double mean, double &excess) {
    excess = after(rate * mean) - mean;
    return ServingRefusal();
  };
  if (longestUs > 0)
    findZero(least, most, excessAt, step.mean);
  growth = rate * each;
  double jump = firstUs - each - decodeUs;
  double squares = each * each * (1 + law.squaredVariation);
  step.variance =
      (squares * rate * step.mean + jump * jump * none * (1 - none)) /
      (1 - std::min(0.99, growth * growth));
  return step;
}

/// Steps of prompts follow one of `stepUs` for as long as any comes in the one
/// before: generations of a branching process, which end with the probability
/// that iterates of their generating function have at 0. What comes in a step
/// that `decodes` goes where requests ended: anywhere.
double PromptQueue::runUs(double stepUs, bool decodes) const {
  double prompts = ratePerUs * stepUs;
  double first = eachUs(prompts, !decodes);
  Run run = runAfter(stepUs, first, eachUs(prompts));
  // Of those steps, most are not the first.
  if (longestUs > 0 && run.steps > 0)
    run = runAfter(stepUs, first, eachOfSomeUs(run.prompts / run.steps));
  return run.us;
}

PromptQueue::Run PromptQueue::runAfter(double stepUs, double first,
                                       double more) const {
  constexpr int generations = 64;
  constexpr double fewest = 1e-4;
  double each = pieces > 1 ? firstUs * pieces : std::min(more, firstUs);
  double offset = pieces > 1 ? 0 : firstUs - each;
  double growth = std::min(mostLoad, ratePerUs * std::max(each, fullUs()));
  Iterates iterates(std::min(mostLoad, ratePerUs * each), law.squaredVariation);
  double without[Iterates::most], offsets[Iterates::most];
  for (int i = 0; i < iterates.count; ++i) {
    without[i] = std::exp(-ratePerUs * stepUs * iterates.below[i]);
    offsets[i] = std::exp(-ratePerUs * offset * iterates.below[i]);
  }
  Run run;
  double prompts = ratePerUs * stepUs;
  for (int i = 0; i < generations && prompts > fewest; ++i) {
    double none = without[0];
    double steps = std::max(1 - none, prompts / perStep);
    double stepsUs = offset * steps + each * prompts;
    if (i == 0 && pieces <= 1)
      stepsUs += (std::min(first, firstUs) - each) * (prompts - steps);
    run.us += stepsUs;
    run.steps += steps;
    run.prompts += prompts;
    prompts = ratePerUs * stepsUs;
    for (int j = 0; j < iterates.count; ++j) {
      double next = j + 1 < iterates.count ? without[j + 1] : 1;
      without[j] = none + offsets[j] * (next - none);
    }
  }
  // Those after, as if all of their steps were full.
  run.us += prompts * (offset / perStep + each) / (1 - growth);
  return run;
}

/// Where prompts have steps of their own, they come between two that decode.
double PromptQueue::decodeAndPromptsUs() const {
  return fusesPrompts ? step().mean : decodeUs + runUs(decodeUs, true);
}

/// Prompts that come while others are read begin with them: of a run that each
/// of them prolongs, Borel's law; beside what decodes, as long steps follow
/// each other.
double PromptQueue::dispersion() const {
  if (fusesPrompts)
    return 1 + ratePerUs * varianceOfSum() / step().mean;
  double times = decodeAndPromptsUs() / decodeUs;
  return times * times;
}

double PromptQueue::promptUs() const {
  double mean = longestUs > 0 ? step().mean : decodeUs;
  return eachUs(ratePerUs * pieces * mean) * pieces;
}

double PromptQueue::varianceOfSum() const {
  double growth = std::min(0.9, ratePerUs * promptUs());
  return step().variance * (1 + growth) / (1 - growth);
}

double PromptQueue::shareThatWaits() const {
  if (together > 1)
    return unread().share;
  double servers = std::max(1.0, perStep), used = std::min(load(), mostLoad);
  return std::pow(used, std::sqrt(2 * (servers + 1)) - 1);
}

double PromptQueue::waitUs() const {
  if (together > 1) {
    double each = promptUs() / pieces;
    return unread().steps * (firstUs + ratePerUs * pieces * firstUs * each);
  }
  double used = std::min(load(), mostLoad);
  return shareThatWaits() * fullUs() * (1 + law.squaredVariation) /
         (2 * (1 - used));
}

/// A prompt waits for those of its own replica alone.
Unread PromptQueue::unread() const {
  return reads.unread(ratePerUs * step().mean);
}

/// What the steps after one of `stepUs` take beyond their mean, where prompts
/// are read beside what decodes: the generating function of each from that of
/// the one before.
double PromptQueue::afterUs(double stepUs, double steps) const {
  constexpr double near = 1e-3;
  double mean = step().mean, rate = ratePerUs * pieces;
  double each = eachUs(rate * mean);
  Iterates iterates(std::min(mostLoad, rate * each), law.squaredVariation);
  double at[Iterates::most], none[Iterates::most], some[Iterates::most];
  for (int i = 0; i < iterates.count; ++i) {
    double below = rate * iterates.below[i];
    at[i] = std::exp(-below * stepUs);
    none[i] = std::exp(-below * decodeUs);
    some[i] = std::exp(-below * (firstUs - each));
  }
  double us = 0, now = stepUs;
  int most = static_cast<int>(std::min<double>(steps, Iterates::most));
  for (int i = 0; i < most && std::abs(now - mean) > near * mean; ++i) {
    double without = at[0];
    now = each * rate * now + without * decodeUs +
          (1 - without) * (firstUs - each);
    us += now - mean;
    for (int j = 0; j < iterates.count; ++j) {
      double next = j + 1 < iterates.count ? at[j + 1] : 1;
      at[j] = without * none[j] + some[j] * (next - without);
    }
  }
  return std::max(0.0, us);
}

double PromptQueue::shareBeside() const {
  return together > 1 ? 1 : 1 - 1 / std::max(1.0, perStep);
}

double PromptQueue::afterOwnUs(double steps) const {
  TimeMoments cycle = step();
  double each = eachUs(ratePerUs * pieces * cycle.mean);
  double met = cycle.mean + cycle.variance / cycle.mean;
  // Its own step, others of the step before it, too, and what waited with it.
  double ownUs = firstUs + ratePerUs * each * shareBeside() * met;
  double soon = shareMet(ownUs * pieces);
  if (fusesPrompts)
    return soon * pieces * afterUs(ownUs + waitUs() / pieces, steps);
  // The run that it begins, for that of the last token.
  ownUs += firstUs * (pieces - 1) + waitUs();
  return soon * std::max(0.0, runUs(ownUs, false) - runUs(decodeUs, true));
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

/// Prompts of an engine that come within so long of one of them, over those of
/// any time: it gets each of so many that come of Poisson's law.
double PromptQueue::shareMet(double us) const {
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
  if (turns <= 1)
    return;
  time.shareBehind *= shareOfTurns();
  double less = (1 / turns + law.squaredVariation) / (1 + law.squaredVariation);
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
  double used = std::min(load(), mostLoad);
  double room = shareBeside();
  double each = eachUs(ratePerUs * pieces * cycle.mean);
  double beside = ratePerUs * each * room;
  double besideSquare = beside * each * (1 + law.squaredVariation);
  double none = shareWithout(each);
  double gated = std::clamp(1 - none * decodeUs / cycle.mean, 1e-9, 1.0);
  FirstTokenTime time;
  time.shareBehind = room * gated + (1 - room) * used;
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
    double each = wait / time.shareBehind;
    time.behind.mean += each;
    time.behind.variance += each * each * (2 / part - 1);
  }
  takeTurns(time);
  // As of a gamma law.
  time.behind.third = 2 * time.behind.variance * time.behind.variance /
                      std::max(1e-9, time.behind.mean);
  time.add(own);
  return time;
}
