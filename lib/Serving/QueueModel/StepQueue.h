//===- StepQueue.h - Prompts that wait for a step ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of one lock-step group of replicas as a queue whose server is gated
// by steps: each step prefills the prompts that arrived during the step before.
// docs/serving.md derives each equation; comments name them as "(S1)".
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_STEPQUEUE_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_STEPQUEUE_H

#include "ReplicaPrompts.h"
#include "TimeMoments.h"
#include "autopar/Serving/SteadyState.h"

#include <algorithm>

namespace autopar::serving {

/// Upper clamp of utilisations, so that 1 / (1 - utilisation) stays finite.
inline constexpr double mostLoad = 0.999;

/// What prompts of different lengths take, relative to one of mean length.
struct PrefillSpread {
  /// Mean and squared coefficient of variation of the time that a prompt adds
  /// to steps that decode.
  double added = 1, addedVariation = 0;
  /// Squared coefficient of variation of a prompt's longest step.
  double stepVariation = 0;
  /// Mean number of steps after the first that a prompt needs.
  double furtherSteps = 0;
  /// Moments of the whole prefill, its steps included.
  TimeMoments whole = {1, 0, 0};
};

/// State: the group's step times and arrivals, then (after `settle`) its steady
/// state. Invariant: `step.mean` is the mean of steps that the prompts arriving
/// in steps of that mean cause. Example: D = 10 us, F = 40, M = 30 and 0.01
/// prompts/us: 87 % of the steps have no prompt and the mean step is 14.3 us.
struct StepQueue {
  /// Poisson arrivals of prompts at the group, per us.
  double arrivalsPerUs = 0;
  /// A step that only decodes (D), a step with one prompt of mean length too
  /// (F; without decoding where the engine alternates), and what each further
  /// prompt adds to it on another replica (M), in us.
  double decodeUs = 0, firstPromptUs = 0, furtherPromptUs = 0;
  /// What a further prompt on the most loaded replica adds beyond M, in us.
  double sameReplicaUs = 0;
  /// Prompts of a step on each replica, in length; and in step time, which
  /// varies more than lengths do.
  ReplicaPrompts lengths, times;
  /// Most prompts of mean length in a step of the group (S), and steps that one
  /// prompt needs (1 where it fits).
  double maxPrompts = 1, chunks = 1;
  PrefillSpread spread;
  /// Prefill of one prompt, from the begin of its first step to the end of its
  /// last one.
  TimeMoments own;
  /// Whether prompts are prefilled beside sequences that decode; else decoding
  /// waits while there are prompts.
  bool fusesPrompts = true;
  /// Lock-step groups that requests are dealt to in turn.
  double groups = 1;
  /// Arrival rate over the saturation rate of the service: an upper bound of
  /// the share of time that prefill takes.
  double utilization = 1;

  /// Steady state: moments of a step, what each prompt beyond the first adds to
  /// it, and the share of steps without any prompt.
  TimeMoments step;
  double furtherUs = 0, shareWithoutPrompts = 1;

  /// Sets F, and corrects what prompts add for the spread of their lengths;
  /// `us` is the step with one prompt of mean length, `addedUs` of it are its.
  void setFirstPrompt(double us, double addedUs);
  /// Finds the steady state. `guessUs` is an estimate of the mean step.
  void settle(double guessUs);

  double leastUs() const { return std::min(decodeUs, firstPromptUs); }
  double mostUs() const { return std::max(decodeUs, fullUs() * maxPrompts); }
  double promptsPerStep() const { return arrivalsPerUs * chunks * step.mean; }
  /// Time of a prompt where all steps are full, in us (S7).
  double fullUs() const;
  /// What `prompts` Poisson arrivals in the mean add to a step, in us (S2).
  double prefillUs(double prompts) const;
  /// The same for an engine that alternates and prefills all of them, in
  /// several steps where one has no room, before it decodes again (S8).
  double fullRunUs(double prompts) const;
  /// What each prompt adds to steps in the steady state, in us.
  double promptUs() const { return furtherUs * chunks; }
  /// Share of the time between first and last token that prefill takes.
  double prefillLoad() const {
    return std::min(utilization, arrivalsPerUs * fullUs());
  }
  /// Mean time from token to token (S4); `guessUs` estimates it.
  double tokenUs(double guessUs) const;
  /// What a request waits longer than that for each of its `steps` tokens, as
  /// its decoding begins behind its own prompt (S5).
  double behindOwnPromptUs(double steps) const;
  /// Variance of the mean of many steps in a row, times their number (S6).
  double varianceOfSum() const;
  /// From the arrival of a prompt to its first token (S9), where a step runs at
  /// its arrival with the probability `busy`.
  FirstTokenTime toFirstToken(double busy) const;
  FirstTokenParts partsOf(const FirstTokenTime &time, double busy) const;

private:
  struct StepsAfter {
    double us = 0, furtherUs = 0, withoutPrompts = 1;
  };
  double addedByFirstUs() const {
    return firstPromptUs - (fusesPrompts ? decodeUs : 0);
  }
  double furtherUsAt(double prompts) const;
  double withoutPrompts(double furtherUs) const;
  double meanAfter(double stepUs, StepsAfter &steps) const;
  double settledUs(double guessUs, StepsAfter &steps) const;
  double lengthScaleUs() const;
  double varianceOfStep() const;
  double growth() const;
  double shareBeside() const;
  double shareThatWaits() const;
  double waitUs() const;
  double shareOfTurns() const;
  void takeTurns(FirstTokenTime &time) const;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_STEPQUEUE_H
