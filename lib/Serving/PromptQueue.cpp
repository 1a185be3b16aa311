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

void PromptQueue::addFirst(double us, double addedByOneUs) {
  // Pieces beyond the first share their steps with other prompts.
  double sharedUs = std::max(0.0, addedByOneUs - moreUs - longestUs);
  double bendUs = addedByOneUs * (law.added - 1);
  if (pieces <= 1)
    bendUs -= sharedUs * law.furtherSteps;
  firstUs = us + bendUs;
  if (together <= 1) {
    moreUs += bendUs;
    return;
  }
  // In units of what a prompt of mean length adds.
  double added = addedUs() / std::max(1e-9, moreUs + longestUs);
  times = reads;
  times.squaredVariation =
      std::max(reads.squaredVariation, added * added * law.stepVariation);
}

double PromptQueue::mostRead() const {
  return longestUs > 0 ? times.largest(ratePerUs * pieces * step.mean) : 0;
}

double PromptQueue::fullUs() const {
  double ofOne = std::max(1.0, perStep / together) - 1;
  double more = (perStep * pieces - 1) * moreUs + ofOne * longestUs;
  return (firstUs + more) / perStep;
}

double PromptQueue::beyondFirstUs(double prompts, double most) const {
  double any = -std::expm1(-prompts);
  return moreUs + longestUs * std::max(0.0, most - any) / (prompts - any);
}

/// Below, what is beyond the first has no digits.
static constexpr double fewest = 0.1;

double PromptQueue::eachWhereEndedUs(double prompts) const {
  if (longestUs <= 0)
    return moreUs;
  prompts = std::max(prompts, fewest);
  return beyondFirstUs(prompts, times.largest(prompts));
}

double PromptQueue::eachOfEvenUs(double prompts) const {
  if (longestUs <= 0)
    return moreUs;
  prompts = std::max(prompts, fewest);
  return beyondFirstUs(prompts, times.largestOfEven(prompts));
}

double PromptQueue::eachUs(double prompts) const {
  return fusesPrompts ? eachWhereEndedUs(prompts) : eachOfEvenUs(prompts);
}

double PromptQueue::eachOfSomeUs(double prompts, double uneven) const {
  if (longestUs <= 0)
    return moreUs;
  // Of Poisson's law, as many as make that without those that read none.
  constexpr int rounds = 5;
  double all = prompts = std::max(prompts, 1.0);
  for (int i = 0; i < rounds; ++i) {
    double none = std::exp(-all);
    all -= (all - prompts * (1 - none)) / std::max(0.01, 1 - prompts * none);
  }
  double even = uneven < 1 ? eachOfEvenUs(all) : 0;
  double whereEnded = uneven > 0 ? eachWhereEndedUs(all) : 0;
  return even + uneven * (whereEnded - even);
}

double PromptQueue::readUs(double prompts) const {
  double pieceCount = prompts * pieces, any = -std::expm1(-pieceCount);
  return any * addedUs() + (pieceCount - any) * eachWhereEndedUs(pieceCount);
}

/// Until all that came at once are read, by the replica that gets most.
double PromptQueue::fullRunUs(double prompts) const {
  double any = -std::expm1(-prompts), most = reads.largestToRead(prompts);
  double steps = std::max(any, most / reads.most + any / 2);
  return steps * (firstUs - moreUs - longestUs) + moreUs * prompts +
         longestUs * times.largestToRead(prompts);
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

double PromptQueue::addedUs() const {
  return firstUs - (fusesPrompts ? decodeUs : 0);
}

/// What of a reading step varies with the length of its first prompt, beside
/// what each of its prompts adds: variances are those of the whole.
double PromptQueue::offsetScaleUs(double each) const {
  double added = addedUs();
  return pieces > 1 ? 0 : std::sqrt(std::max(0.0, added * added - each * each));
}

/// Of a step that reads, where so many prompts come in the mean: how likely
/// some of it is left for the next one. A prompt of several steps leaves none.
double PromptQueue::shareCut(double prompts) const {
  return pieces > 1 ? 0 : reads.shareCut(std::max(prompts, fewest));
}

/// What a step takes beside what decodes and what is read.
double PromptQueue::furtherUs() const {
  return std::max(0.0, firstUs - decodeUs - moreUs - longestUs);
}

/// How likely nothing comes to the step after one that reads, of what that
/// takes beside what each of its prompts adds: over the law of lengths, as most
/// of that is one prompt's. Of a generating function, at 1 - `below`.
double PromptQueue::noneInOffset(double below, double each, double cut) const {
  double us = firstUs - each, scale = offsetScaleUs(each);
  double rate = ratePerUs * below * pieces, without = 1 - cut * below;
  if (law.stepVariation <= 0 || scale <= 0)
    return without * std::exp(-rate * us);
  double none = 0;
  for (size_t i = 0; i < gaussWeights.size(); ++i) {
    double at = std::max(0.0, us + scale * law.deviations[i]);
    none += gaussWeights[i] * std::exp(-rate * at);
  }
  return without * none;
}

/// The share of steps that have no prompts, of those that read what came in the
/// one before. With N in one, the generating function of N in the next is
/// exp(-rate * its time * (1 - s)), which makes that of N its own image: at 0
/// it is the share, which its iterates have as a factor (Resing 1993, DOI
/// 10.1007/BF01149263).
double PromptQueue::shareWithout(double each, double cut) const {
  double rate = ratePerUs * pieces;
  Iterates iterates(std::min(mostLoad, rate * each), law.squaredVariation);
  double constant = 1, factor = 0;
  for (int i = iterates.count - 1; i >= 0; --i) {
    double below = iterates.below[i];
    double some = noneInOffset(below, each, cut);
    constant *= some;
    factor = std::exp(-rate * below * decodeUs) + some * (factor - 1);
  }
  return std::clamp(constant / (1 - factor), 0.0, 1.0);
}

/// How much longer the next step is for each microsecond of one, in the mean:
/// the slope from steps that read none to those that do.
double PromptQueue::growth(double prompts, double each, double none) const {
  double rate = ratePerUs * pieces, jump = firstUs - each - decodeUs;
  double longer = jump + each * prompts / (1 - none);
  // How much rarer it is that none comes.
  double rarer = std::exp(-rate * decodeUs) * -std::expm1(-rate * longer);
  return rate * each + jump * (longer > 0 ? rarer / longer : rate);
}

/// Of steps of which a share `none` reads none.
double PromptQueue::varianceOfStep(double prompts, double each,
                                   double none) const {
  double follows = ratePerUs * pieces * each;
  double jump = firstUs - each - decodeUs, scale = offsetScaleUs(each);
  double variance = each * each * (1 + law.squaredVariation) * prompts +
                    scale * scale * law.stepVariation * (1 - none) +
                    jump * none * (jump * (1 - none) + 2 * each * prompts);
  return variance / (1 - std::min(0.99, follows * follows));
}

/// Of many steps in a row, each of which is followed by one that reads what
/// came in it, which grows so much with it: for each.
static double ofManySteps(double variance, double growth) {
  growth = std::min(0.9, growth);
  return variance * (1 + growth) / (1 - growth);
}

/// A step that reads k prompts takes `firstUs + (k - 1) * each`, one that reads
/// none `decodeUs`; k is of Poisson's law, whose mean is what comes in a step:
/// long ones follow each other, so fewer have any than of one mean. A prompt of
/// several steps comes as so many.
void PromptQueue::settle() {
  step = {decodeUs, 0, 0};
  if (ratePerUs <= 0)
    return;
  double rate = ratePerUs * pieces, none = 0, each = moreUs;
  double whereEnded = fusesPrompts ? 1 : 0;
  double least = std::min(decodeUs, firstUs),
         most = std::max(decodeUs, fullUs() * perStep);
  // The mean where `prompts` come in the one before.
  auto after = [&](double prompts) {
    each = eachOfSomeUs(prompts / (1 - none), whereEnded);
    double cut = shareCut(prompts), whole = 0;
    none = shareWithout(each, cut);
    double us = none * decodeUs + (1 - none) * (firstUs - each);
    // What is left of a prompt adds no more than its step, and no replica.
    if (cut > 0 && longestUs > 0) {
      whole = shareWithout(each, 0);
      us += (whole - none) * (decodeUs + furtherUs() - (firstUs - each));
    }
    us += each * prompts;
    // As many end as came in a step long before: of both, the fewer come where
    // requests ended (1 less Gini's coefficient of log-normal times).
    if (fusesPrompts && endsInTurn) {
      double variation = varianceOfStep(prompts, each, none) / (us * us);
      whereEnded = std::erfc(std::sqrt(std::log1p(variation)) / 2);
    }
    return us;
  };
  // The same where as many come as in this one.
  auto settled = [&](double mean) {
    double prompts = rate * mean, fixed = after(prompts) - each * prompts;
    double us = rate * each < 1 ? fixed / (1 - rate * each) : most;
    return std::clamp(us, least, most);
  };
  auto excessAt = [&](double mean, double &excess) {
    excess = settled(mean) - mean;
    return ServingRefusal();
  };
  step.mean = settled(0);
  // Else what each prompt adds, and how many steps read any, is always the
  // same.
  if (longestUs > 0 || (reads.cutsPrompts && pieces <= 1))
    findZeroFrom(step.mean, least, most, excessAt, step.mean);
  step.variance = varianceOfStep(rate * step.mean, each, none);
}

/// Steps of prompts follow one of `stepUs` for as long as any comes in the one
/// before: generations of a branching process, which end with the probability
/// that iterates of their generating function have at 0.
double PromptQueue::runUs(double stepUs, double first) const {
  Run run = runAfter(stepUs, first, eachUs(ratePerUs * stepUs));
  if (longestUs <= 0 || run.steps <= 0)
    return run.us;
  // Of those steps, most are not the first.
  double uneven = endsInTurn ? 0 : reads.shareUneven(run.prompts);
  double each = eachOfSomeUs(run.prompts / run.steps, uneven);
  return runAfter(stepUs, first, each).us;
}

double PromptQueue::runAfterDecodingUs() const {
  return runUs(decodeUs, eachWhereEndedUs(ratePerUs * decodeUs));
}

double PromptQueue::runAfterReadingUs(double stepUs) const {
  return runUs(stepUs, eachOfEvenUs(ratePerUs * stepUs));
}

PromptQueue::Run PromptQueue::runAfter(double stepUs, double first,
                                       double more) const {
  constexpr int generations = 64;
  constexpr double fewest = 1e-4;
  double each = pieces > 1 ? firstUs * pieces : std::min(more, firstUs);
  double offset = pieces > 1 ? 0 : firstUs - each;
  double growth = std::min(mostLoad, ratePerUs * std::max(each, fullUs()));
  Iterates iterates(std::min(mostLoad, ratePerUs * each), law.squaredVariation);
  double prompts = ratePerUs * stepUs, cut = shareCut(prompts);
  double without[Iterates::most], offsets[Iterates::most];
  for (int i = 0; i < iterates.count; ++i) {
    without[i] = std::exp(-ratePerUs * stepUs * iterates.below[i]);
    offsets[i] = pieces > 1 ? 1 : noneInOffset(iterates.below[i], each, cut);
  }
  Run run;
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
  return fusesPrompts ? step.mean : decodeUs + runAfterDecodingUs();
}

/// Prompts that come while others are read begin with them: of a run that each
/// of them prolongs, Borel's law. Beside what decodes, each comes with what it
/// makes the steps after it longer, on the line nearest to what steps take for
/// what they read, and with what these are off that line.
double PromptQueue::dispersion() const {
  constexpr double mostSlope = 0.9;
  if (!fusesPrompts) {
    double times = decodeAndPromptsUs() / decodeUs;
    return times * times;
  }
  const TimeMoments &cycle = step;
  double rate = ratePerUs * pieces, prompts = rate * cycle.mean;
  if (prompts <= 0)
    return 1;
  double each = eachUs(prompts), none = shareWithout(each, shareCut(prompts));
  double fromSteps = rate * rate * cycle.variance;
  double variance = prompts + fromSteps, jump = firstUs - each - decodeUs;
  double slope = rate * (each + jump * prompts * none / variance);
  double off = std::max(0.0, fromSteps - slope * slope * variance);
  double less = 1 - std::min(mostSlope, slope);
  return (1 + off / prompts) / (less * less);
}

double PromptQueue::growthOfSteps() const {
  double prompts = ratePerUs * pieces * step.mean, each = eachUs(prompts);
  return growth(prompts, each, shareWithout(each, shareCut(prompts)));
}

double PromptQueue::promptUs() const {
  double mean = longestUs > 0 ? step.mean : decodeUs;
  return eachUs(ratePerUs * pieces * mean) * pieces;
}

double PromptQueue::varianceOfSum() const {
  return ofManySteps(step.variance, growthOfSteps());
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
  return reads.unread(ratePerUs * step.mean);
}

/// What the steps after one of `stepUs` take beyond their mean, where prompts
/// are read beside what decodes: the generating function of each from that of
/// the one before.
double PromptQueue::afterUs(double stepUs, double steps) const {
  constexpr double near = 1e-3;
  double mean = step.mean, rate = ratePerUs * pieces;
  double each = eachUs(rate * mean), cut = shareCut(rate * mean);
  Iterates iterates(std::min(mostLoad, rate * each), law.squaredVariation);
  double at[Iterates::most], none[Iterates::most], some[Iterates::most];
  for (int i = 0; i < iterates.count; ++i) {
    double below = rate * iterates.below[i];
    at[i] = std::exp(-below * stepUs);
    none[i] = std::exp(-below * decodeUs);
    some[i] = noneInOffset(iterates.below[i], each, cut);
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
  const TimeMoments &cycle = step;
  double each = eachUs(ratePerUs * pieces * cycle.mean);
  double met = cycle.mean + cycle.variance / cycle.mean;
  // Its own step, others of the step before it, too, and what waited with it.
  double ownUs = firstUs + ratePerUs * each * shareBeside() * met;
  double soon = shareMet(ownUs * pieces);
  if (fusesPrompts)
    return soon * pieces * afterUs(ownUs + waitUs() / pieces, steps);
  // The run that it begins, for that of the last token.
  ownUs += firstUs * (pieces - 1) + waitUs();
  return soon * std::max(0.0, runAfterReadingUs(ownUs) - runAfterDecodingUs());
}
