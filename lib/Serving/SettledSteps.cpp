//===- SettledSteps.cpp - Steps of prompts in the steady state ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FalsePosition.h"
#include "LengthIntegral.h"
#include "PromptIterates.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

/// Of steps, the share that reads anything; less has no digits.
static constexpr double leastAny = 1e-9;

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

/// How likely nothing comes to the step after one that reads and leaves none,
/// of what that takes beside what each of its prompts adds: over the law of
/// lengths, as most of that is one prompt's. Of a generating function, at
/// 1 - `below`.
double PromptQueue::noneInOffset(double below, double each) const {
  double us = firstUs - each, scale = offsetScaleUs(each);
  double rate = ratePerUs * below * pieces;
  double variance = rate * rate * scale * scale * law.stepVariation;
  // Of few that come, only the variance of lengths counts.
  constexpr double few = 1e-2;
  if (variance < few)
    return std::exp(-rate * us) * (1 + variance / 2);
  double none = 0;
  for (size_t i = 0; i < gaussWeights.size(); ++i) {
    double at = std::max(0.0, us + scale * law.deviations[i]);
    none += gaussWeights[i] * std::exp(-rate * at);
  }
  return none;
}

namespace {
/// What the share of steps without prompts is found from, for each iterate:
/// how likely none comes to the step after one that reads and after one that
/// does not. At first, of all whose distances to 1 have the sum `rest`, where
/// so much comes to each for as much of it.
class ImageOfNone {
public:
  ImageOfNone(double comes, double decode, double rest)
      : constant(std::exp(-comes * rest)) {
    double sum = comes > 0 ? (1 - constant) / comes : rest;
    factor = (comes - decode) * sum;
  }
  void add(double none, double decodes) {
    constant *= none;
    factor = decodes + none * (factor - 1);
  }
  double share() const { return std::clamp(constant / (1 - factor), 0.0, 1.0); }

private:
  double constant = 1, factor = 0;
};
} // namespace

/// The share of steps that have no prompts, of those that read what came in the
/// one before. With N in one, the generating function of N in the next is
/// exp(-rate * its time * (1 - s)), which makes that of N its own image: at 0
/// it is the share, which its iterates have as a factor (Resing 1993, DOI
/// 10.1007/BF01149263). Where a share `cut` of those that read leaves some, and
/// where none does.
PromptQueue::ShareWithout PromptQueue::shareWithout(double each,
                                                    double cut) const {
  constexpr double least = 0.03;
  double rate = ratePerUs * pieces;
  Iterates iterates(std::min(mostLoad, rate * each), law.squaredVariation,
                    least);
  // Near 1, all is straight.
  double offset = rate * (firstUs - each), decode = rate * decodeUs;
  ImageOfNone some(cut + offset, decode, iterates.rest);
  ImageOfNone whole(offset, decode, iterates.rest);
  for (int i = iterates.count - 1; i >= 0; --i) {
    double below = iterates.below[i], none = noneInOffset(below, each);
    double decodes = std::exp(-decode * below);
    some.add((1 - cut * below) * none, decodes);
    whole.add(none, decodes);
  }
  return {some.share(), whole.share()};
}

/// How much longer the next step is for each microsecond of one, in the mean:
/// the slope from steps that read none to those that do.
double PromptQueue::growth(double prompts, double each, double none) const {
  double rate = ratePerUs * pieces, jump = firstUs - each - decodeUs;
  double longer = jump + each * prompts / std::max(leastAny, 1 - none);
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

/// How likely a step reads none, of those that read what came in the one
/// before, where each prompt goes to any replica.
double PromptQueue::shareAlone() const {
  return shareWithout(moreUs + longestUs / together, 0).whole;
}

/// The mean of steps of which as many have prompts as come in one of `mean`.
double PromptQueue::meanAfter(double mean, double alone,
                              StepsAfter &steps) const {
  double rate = ratePerUs * pieces, prompts = rate * mean;
  steps = stepsAfter(prompts, alone);
  double more = rate * steps.each;
  double us = (steps.us - steps.each * prompts) / (1 - more);
  return more < 1 ? std::clamp(us, leastUs(), mostUs()) : mostUs();
}

/// A step that reads k prompts takes `firstUs + (k - 1) * each`, one that reads
/// none `decodeUs`; k is of Poisson's law, whose mean is what comes in a step:
/// long ones follow each other, so fewer have any than of one mean. A prompt of
/// several steps comes as so many.
double PromptQueue::settledUs(double guessUs, StepsAfter &steps) const {
  if (ratePerUs <= 0)
    return decodeUs;
  double alone = longestUs > 0 ? shareAlone() : 0, us = guessUs;
  // What each prompt adds, and how many steps read any, is always the same of
  // an engine that cuts none.
  if (longestUs <= 0 && (!reads.cutsPrompts || pieces > 1))
    return meanAfter(guessUs, alone, steps);
  auto excessAt = [&](double mean, double &excess) {
    excess = meanAfter(mean, alone, steps) - mean;
    return ServingRefusal();
  };
  double fall = 1;
  findZero(guessUs, fall, leastUs(), mostUs(), excessAt, us);
  return us;
}

void PromptQueue::settle(double guessUs) {
  StepsAfter steps;
  step = {settledUs(guessUs, steps), 0, 0};
  double prompts = promptsPerStep();
  if (ratePerUs > 0)
    step.variance = varianceOfStep(prompts, steps.each, steps.none);
  steady = {steps.each, shareCut(prompts), steps.none};
}

double PromptQueue::tokenUs(double guessUs) const {
  StepsAfter steps;
  return fusesPrompts ? settledUs(guessUs, steps)
                      : decodeUs + runAfterDecodingUs();
}

double PromptQueue::tokenUsAfter(double tokenUs) const {
  StepsAfter steps;
  if (!fusesPrompts || ratePerUs <= 0)
    return decodeUs + runAfterDecodingUs();
  return meanAfter(tokenUs, longestUs > 0 ? shareAlone() : 0, steps);
}

double PromptQueue::stepUsOf(double tokenUs) const {
  return fusesPrompts ? tokenUs : tokenUs * shareAlone();
}

/// What steps take where so many prompts come in the one before. Of replicas,
/// what each adds depends on how many steps read any, which is nearly what it
/// were if prompts met as those do that go to any replica: `alone` read none.
PromptQueue::StepsAfter PromptQueue::stepsAfter(double prompts,
                                                double alone) const {
  double cut = shareCut(prompts), whereEnded = fusesPrompts ? 1 : 0;
  StepsAfter steps;
  auto read = [&](double each, double none) {
    double readUs = (1 - none) * (firstUs - each);
    steps = {none * decodeUs + readUs + each * prompts, each, none};
  };
  if (longestUs <= 0) {
    read(moreUs, shareWithout(moreUs, cut).some);
    return steps;
  }
  read(moreUs + longestUs / together, alone);
  // As many end as came in a step long before: of both, the fewer come where
  // requests ended (of log-normal times).
  if (fusesPrompts && endsInTurn) {
    double variance = varianceOfStep(prompts, steps.each, steps.none);
    double variation = variance / (steps.us * steps.us);
    whereEnded = smallerOfTwo(variation);
  }
  double any = std::max(leastAny, 1 - steps.none);
  double each = eachOfSomeUs(prompts / any, whereEnded);
  ShareWithout without = shareWithout(each, cut);
  read(each, without.some);
  // What is left of a prompt adds no more than its step, and no replica.
  steps.us += (without.whole - without.some) * (each - moreUs - longestUs);
  return steps;
}

//===----------------------------------------------------------------------===//
// Steps in a row
//===----------------------------------------------------------------------===//

/// Of many steps in a row, each of which is followed by one that reads what
/// came in it, which grows so much with it: for each.
static double ofManySteps(double variance, double growth) {
  growth = std::clamp(growth, -0.9, 0.9);
  return variance * (1 + growth) / (1 - growth);
}

/// Prompts that come while others are read begin with them: of a run that each
/// of them prolongs, Borel's law. Beside what decodes, each comes with what it
/// makes the steps after it longer, on the line nearest to what steps take for
/// what they read, and with what these are off that line.
double PromptQueue::dispersion() const {
  constexpr double mostSlope = 0.9;
  if (!fusesPrompts) {
    double times = 1 + runAfterDecodingUs() / decodeUs;
    return times * times;
  }
  double rate = ratePerUs * pieces, prompts = promptsPerStep();
  if (prompts <= 0)
    return 1;
  double fromSteps = rate * rate * step.variance;
  double variance = prompts + fromSteps;
  double jump = firstUs - steady.eachUs - decodeUs;
  double slope =
      rate * (steady.eachUs + jump * prompts * steady.none / variance);
  double off = std::max(0.0, fromSteps - slope * slope * variance);
  double less = 1 - std::min(mostSlope, slope);
  return (1 + off / prompts) / (less * less);
}

double PromptQueue::growthOfSteps() const {
  return growth(promptsPerStep(), steady.eachUs, steady.none);
}

double PromptQueue::varianceOfSum() const {
  return ofManySteps(step.variance, growthOfSteps());
}
