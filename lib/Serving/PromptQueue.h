//===- PromptQueue.h - Prompts that wait for a step -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step reads what came while the one before it ran: a queue whose server is
// gated by steps. Of constant load, the moments of steps and of waiting times
// follow from those of the arrivals, which are of Poisson's law.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_PROMPTQUEUE_H
#define AUTOPAR_LIB_SERVING_PROMPTQUEUE_H

#include "LargestRead.h"
#include "ReadLaw.h"

#include <algorithm>

namespace autopar::serving {

/// Steps and prompts of replicas that step together. Times are microseconds.
struct PromptQueue {
  /// Prompts that come in a microsecond.
  double ratePerUs = 0;
  /// A step that decodes alone, one with one prompt too (or, of an engine that
  /// alternates, alone), and what each further prompt adds to that.
  double decodeUs = 0, firstUs = 0, moreUs = 0;
  /// Of replicas that step together, of which prompts come to any: what the one
  /// with most of them adds for each beyond its first.
  double together = 1, longestUs = 0;
  /// By lengths; and by what they add to steps, where long ones add more.
  ReplicaReads reads, times;
  /// What a step of one replica reads at most, in prompts of mean length.
  double mostLength = 1;
  /// Prompts that one step reads at most, and steps that one takes.
  double perStep = 1, pieces = 1;
  /// Of prompts of different lengths, and what one of them takes to be read.
  ReadLaw law;
  TimeMoments own;
  bool fusesPrompts = true;
  /// Whether requests end as they began: answers are of one length.
  bool endsInTurn = false;
  /// Engines that requests are dealt to in turn.
  double turns = 1;
  /// What comes over what is served at most: prompts take no larger share of
  /// the time.
  double used = 1;

  /// Of the steady state; and what each prompt beyond the first adds to a step
  /// there, the share of those that read which leave some of it, and of all the
  /// share that reads none.
  TimeMoments step;
  struct Reads {
    double eachUs = 0, leaveSome = 0, none = 1;
  };
  Reads steady;

  /// Sets `firstUs` and what depends on it, where one prompt of mean length
  /// adds so much to a step and others `moreUs` and `longestUs`.
  void addFirst(double us, double addedByOneUs);
  /// Finds them from all before them; the mean of steps is about so long.
  void settle(double guessUs);
  /// The shortest step, and one that reads as many prompts as it may.
  double leastUs() const { return std::min(decodeUs, firstUs); }
  double mostUs() const { return std::max(decodeUs, fullUs() * perStep); }
  /// Prompts that come in a step, in the mean: pieces of those that take
  /// several.
  double promptsPerStep() const { return ratePerUs * pieces * step.mean; }
  /// From a token to the next in the mean, of all before `step`: it is about
  /// `guessUs`.
  double tokenUs(double guessUs) const;
  /// The same where as many prompts come to steps as if it took so long.
  double tokenUsAfter(double tokenUs) const;
  /// The mean of steps where tokens take so long, about.
  double stepUsOf(double tokenUs) const;
  /// Of engines that requests are dealt to: of those that come in a time that
  /// begins with a prompt of the same one, over those of any time.
  double shareThatComes(double us) const;
  /// The others that an engine has beside a request of so long, over those that
  /// it has at any time.
  double shareOfOthers(double us) const;
  /// What one prompt adds to a step.
  double addedUs() const;
  /// What each prompt beyond the first adds to a step to which so many come in
  /// the mean.
  double eachUs(double prompts) const;
  /// The same where steps that read any read so many, a share of which goes
  /// where requests ended, and the others evenly.
  double eachOfSomeUs(double prompts, double uneven) const;
  /// What one adds in the steady state.
  double promptUs() const;
  /// Variance over mean of how many begin to decode between two tokens.
  double dispersion() const;
  /// Of many steps in a row, of which long ones follow each other: for each.
  double varianceOfSum() const;
  /// Of prompts, those that find no room in the next step and wait for further
  /// ones, as for one of so many servers, and for how long all do in the mean
  /// (Sakasegawa 1977, DOI 10.1007/BF02911707).
  double shareThatWaits() const;
  double waitUs() const;
  /// What waits where a prompt ends, beyond what waits at the end of any step,
  /// as far as it comes in the steps that a request decodes in: for each of
  /// them, in the mean over requests.
  double afterOwnUs(const StepCounts &steps) const;
  /// What a prompt takes where all steps are full.
  double fullUs() const;
  /// What so many of Poisson's law add to a step in the mean, all of which go
  /// where requests ended.
  double readUs(double prompts) const;
  /// Steps of replicas that alternate, where so many come to them at once.
  double fullRunUs(double prompts) const;
  /// Share of the time between first and last that prompts may take: 1 is all.
  double load() const;
  /// From the arrival of a prompt to the end of the step that reads its end,
  /// where something decodes with a probability of `busy`.
  FirstTokenTime toFirstToken(double busy) const;
  /// What that consists of, in the mean.
  FirstTokenParts partsOf(const FirstTokenTime &time, double busy) const;

private:
  /// More is as if it were this.
  static constexpr double mostLoad = 0.999;
  /// Prompts of a step; below, what is beyond the first has no digits.
  static constexpr double fewest = 0.1;

  struct Iterates;
  /// Where what is read most is so much in the mean, in prompts.
  double beyondFirstUs(double prompts, double most) const;
  /// Of those that go where requests ended, and of those that are dealt evenly.
  double eachWhereEndedUs(double prompts) const;
  double eachOfEvenUs(double prompts) const;
  double offsetScaleUs(double each) const;
  double shareCut(double prompts) const;
  double noneInOffset(double below, double each) const;
  /// Of steps, those that read none: where some leave a part of what they read,
  /// and where all read it whole.
  struct ShareWithout {
    double some = 0, whole = 0;
  };
  ShareWithout shareWithout(double each, double cut) const;
  /// In the mean: what a step takes, what each prompt beyond its first adds,
  /// and the share of steps that read none.
  struct StepsAfter {
    double us = 0, each = 0, none = 1;
  };
  StepsAfter stepsAfter(double prompts, double alone) const;
  double shareAlone() const;
  double meanAfter(double mean, double alone, StepsAfter &steps) const;
  double settledUs(double guessUs, StepsAfter &steps) const;
  Unread unread() const;
  double growth(double prompts, double each, double none) const;
  double growthOfSteps() const;
  double varianceOfStep(double prompts, double each, double none) const;
  /// Steps of prompts after another one, where each prompt beyond the first of
  /// a step adds as much: in the `first` of them, and in those that follow.
  struct Run {
    double us = 0, steps = 0, prompts = 0;
  };
  Run runAfter(double stepUs, double first, double more, double cut) const;
  /// Where each prompt beyond the first of its first step adds `first`, and
  /// such a share of steps that read leaves some.
  double runUs(double stepUs, double first, double cut) const;
  double pieceByPieceUs(double prompts) const;
  double runAfterDecodingUs() const;
  double runAfterReadingUs(double stepUs) const;
  double afterUs(double stepUs, const StepCounts &steps) const;
  double shareOfTurns() const;
  /// Of those that come in the step of a prompt, the share that has room beside
  /// it in the next.
  double shareBeside() const;
  void takeTurns(FirstTokenTime &time) const;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_PROMPTQUEUE_H
