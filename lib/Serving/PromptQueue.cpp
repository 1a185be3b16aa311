//===- PromptQueue.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromptIterates.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace autopar;
using namespace autopar::serving;

/// What comes at iterates nearer to 1 is as if it were none.
static constexpr double leastBelow = 1e-3;

void PromptQueue::addFirst(double us, double addedByOneUs) {
  // Pieces beyond the first share their steps with other prompts.
  double sharedUs = std::max(0.0, addedByOneUs - moreUs - longestUs);
  double bendUs = addedByOneUs * (law.added - 1);
  if (pieces <= 1)
    bendUs -= sharedUs * law.furtherSteps;
  bendUs = std::max(bendUs, -addedByOneUs);
  firstUs = us + bendUs;
  // What short ones lack most is what a first prompt adds alone.
  double share = addedByOneUs > 0 ? (moreUs + longestUs) / addedByOneUs : 1;
  double bendEachUs = bendUs < 0 ? share * bendUs : bendUs;
  if (together <= 1) {
    moreUs += bendEachUs;
    return;
  }
  longestUs = std::max(0.0, longestUs + bendEachUs);
  // In units of what a prompt of mean length adds.
  double added = addedUs() / std::max(1e-9, moreUs + longestUs);
  times = reads;
  times.squaredVariation =
      std::max(reads.squaredVariation, added * added * law.stepVariation);
}

double PromptQueue::fullUs() const {
  double ofOne = std::max(1.0, perStep / together) - 1;
  double more = (perStep * pieces - 1) * moreUs + ofOne * longestUs;
  return (firstUs + more) / perStep;
}

/// Of prompts beyond the first, of Poisson's law, how many add to the most that
/// one replica gets; lengths that are cut may make that less than one.
static double meeting(double prompts, double most) {
  double any = -std::expm1(-prompts);
  return std::max(0.0, most - any) / (prompts - any);
}

double PromptQueue::beyondFirstUs(double prompts, double most) const {
  return moreUs + longestUs * meeting(prompts, most);
}

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
  constexpr double near = 1e-4;
  double all = prompts = std::max(prompts, 1.0), more = all;
  for (int i = 0; i < rounds && std::abs(more) > near * all; ++i) {
    double none = std::exp(-all);
    more = (all - prompts * (1 - none)) / std::max(0.01, 1 - prompts * none);
    all -= more;
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

double PromptQueue::load() const {
  return std::min(used, ratePerUs * fullUs());
}

double PromptQueue::addedUs() const {
  return firstUs - (fusesPrompts ? decodeUs : 0);
}

/// Steps of prompts follow one of `stepUs` for as long as any comes in the one
/// before: generations of a branching process, which end with the probability
/// that iterates of their generating function have at 0.
double PromptQueue::runUs(double stepUs, double first, double cut) const {
  Run run = runAfter(stepUs, first, eachUs(ratePerUs * stepUs), cut);
  if (longestUs <= 0 || run.steps <= 0)
    return run.us;
  // Of those steps, most are not the first.
  double uneven = endsInTurn ? 0 : reads.shareUneven(run.prompts);
  double more = eachOfSomeUs(run.prompts / run.steps, uneven);
  return runAfter(stepUs, first, more, cut).us;
}

double PromptQueue::runAfterDecodingUs() const {
  double prompts = ratePerUs * decodeUs;
  return runUs(decodeUs, eachWhereEndedUs(prompts), shareCut(prompts));
}

double PromptQueue::runAfterReadingUs(double stepUs) const {
  return runUs(stepUs, eachOfEvenUs(ratePerUs * stepUs), steady.leaveSome);
}

/// What each prompt of several steps adds that comes beside others: replicas
/// read theirs side by side, and one reads one after another.
double PromptQueue::pieceByPieceUs(double prompts) const {
  if (together <= 1)
    return firstUs * pieces;
  ReplicaReads whole{together, 0, std::numeric_limits<double>::infinity(),
                     false};
  prompts = std::max(prompts, fewest);
  double meet = std::min(1.0, meeting(prompts, whole.largestOfEven(prompts)));
  return pieces * (moreUs + meet * std::max(0.0, firstUs - moreUs));
}

PromptQueue::Run PromptQueue::runAfter(double stepUs, double first, double more,
                                       double cut) const {
  constexpr int generations = 64;
  constexpr double least = 1e-4;
  double prompts = ratePerUs * stepUs;
  double each = pieces > 1 ? pieceByPieceUs(prompts) : std::min(more, firstUs);
  double offset = std::max(0.0, firstUs * pieces - each);
  double growth = std::min(mostLoad, ratePerUs * std::max(each, fullUs()));
  Iterates iterates(std::min(mostLoad, ratePerUs * each), law.squaredVariation,
                    leastBelow);
  double without[Iterates::most], offsets[Iterates::most];
  for (int i = 0; i < iterates.count; ++i) {
    double below = iterates.below[i];
    without[i] = std::exp(-ratePerUs * stepUs * below);
    offsets[i] = pieces > 1 ? std::exp(-ratePerUs * offset * below)
                            : (1 - cut * below) * noneInOffset(below, each);
  }
  Run run;
  for (int i = 0; i < generations && prompts > least; ++i) {
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

double PromptQueue::promptUs() const { return steady.eachUs * pieces; }

double PromptQueue::shareThatWaits() const {
  if (together > 1)
    return unread().share;
  double servers = std::max(1.0, perStep), busy = std::min(load(), mostLoad);
  return std::pow(busy, std::sqrt(2 * (servers + 1)) - 1);
}

double PromptQueue::waitUs() const {
  if (together > 1) {
    return unread().steps *
           (firstUs + ratePerUs * pieces * firstUs * steady.eachUs);
  }
  double busy = std::min(load(), mostLoad);
  return shareThatWaits() * fullUs() * (1 + law.squaredVariation) /
         (2 * (1 - busy));
}

/// A prompt waits for those of its own replica alone.
Unread PromptQueue::unread() const {
  return reads.unread(ratePerUs * step.mean);
}

/// Of a step so many after the first: for each of those of a request.
static double shareOf(const StepCounts &steps, int step) {
  double share = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    share += gaussWeights[i] * std::clamp(steps[i] - step, 0.0, 1.0) / steps[i];
  return share;
}

/// What the steps after one of `stepUs` take beyond their mean, where prompts
/// are read beside what decodes: the generating function of each from that of
/// the one before.
double PromptQueue::afterUs(double stepUs, const StepCounts &steps) const {
  constexpr double near = 1e-3;
  double rate = ratePerUs * pieces, each = steady.eachUs, most = mostUs();
  double comes = std::min(mostLoad, rate * each), offset = firstUs - each;
  // Their own mean, without what adds less where prompts are cut.
  double mean =
      (steady.none * decodeUs + (1 - steady.none) * offset) / (1 - comes);
  Iterates iterates(comes, law.squaredVariation, leastBelow);
  double at[Iterates::most], none[Iterates::most], some[Iterates::most];
  for (int i = 0; i < iterates.count; ++i) {
    double below = rate * iterates.below[i];
    at[i] = std::exp(-below * stepUs);
    none[i] = std::exp(-below * decodeUs);
    some[i] = (1 - steady.leaveSome * iterates.below[i]) *
              noneInOffset(iterates.below[i], each);
  }
  double us = 0, now = stepUs, left = 0;
  int count = static_cast<int>(
      std::min<double>(std::ceil(*std::max_element(steps.begin(), steps.end())),
                       Iterates::most));
  for (int i = 0; i < count && std::abs(now - mean) > near * mean; ++i) {
    double without = at[0];
    double wanted = comes * now + without * decodeUs + (1 - without) * offset;
    // What is beyond a full step comes in those after it.
    now = std::min(most, wanted + left);
    left += wanted - now;
    us += (now - mean) * shareOf(steps, i);
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

double PromptQueue::afterOwnUs(const StepCounts &steps) const {
  double met = step.mean + step.variance / step.mean;
  // Its own step, others of the step before it, too, and what waited with it.
  double ownUs = firstUs + ratePerUs * steady.eachUs * shareBeside() * met;
  double soon = shareThatComes(ownUs * pieces);
  // Of what comes while it is read, another replica has read a part.
  double left = (pieces + (together - 1) * (pieces + 1) / 2) / together;
  if (fusesPrompts)
    return soon * left * afterUs(ownUs + waitUs() / pieces, steps);
  // The run that it begins, for that of the last token.
  ownUs += firstUs * (pieces - 1) + waitUs();
  double us = std::max(0.0, runAfterReadingUs(ownUs) - runAfterDecodingUs());
  return soon * us * shareOf(steps, 0);
}
