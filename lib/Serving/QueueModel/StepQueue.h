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

/// Utilisations are limited to this value, so that 1 / (1 - utilisation) stays
/// finite.
inline constexpr double mostLoad = 0.999;

/// The times of prompts of different lengths, relative to a prompt of mean
/// length.
struct PrefillSpread {
  /// The mean and the squared coefficient of variation of the time that a
  /// prompt adds to steps that decode.
  double added = 1, addedVariation = 0;
  /// The squared coefficient of variation of a prompt's longest step.
  double stepVariation = 0;
  /// The mean number of steps after the first one that a prompt needs.
  double furtherSteps = 0;
  /// The moments of the whole prefill, including its steps.
  TimeMoments whole = {1, 0, 0};
};

/// The queue of prompts at a lock-step group. Its state is first the group's
/// step times and arrivals and, after `settle`, also its steady state.
/// Invariant: if steps have the mean `step.mean`, the prompts that arrive in
/// them cause steps of this mean. Example: for D = 10 us, F = 40, M = 30 and
/// 0.01 prompts/us, 87 % of the steps have no prompt and the mean step is 14.3
/// us.
struct StepQueue {
  /// The rate of Poisson arrivals of prompts at the group, per us.
  double arrivalsPerUs = 0;
  /// Three times in us: a step that only decodes (D); a step with one prompt of
  /// mean length too (F; without decoding if the engine alternates); and what
  /// each further prompt on another replica adds to such a step (M).
  double decodeUs = 0, firstPromptUs = 0, furtherPromptUs = 0;
  /// The time in us that a further prompt on the most loaded replica adds
  /// beyond M.
  double sameReplicaUs = 0;
  /// The prompts of a step on each replica: `lengths` counts their length,
  /// `times` their step time, which varies more.
  ReplicaPrompts lengths, times;
  /// The most prompts of mean length in a step of the group (S), and the number
  /// of steps that one prompt needs (1 if it fits in a step).
  double maxPrompts = 1, chunks = 1;
  PrefillSpread spread;
  /// The moments of the prefill of one prompt, from the begin of its first step
  /// to the end of its last step.
  TimeMoments own;
  /// Whether prompts are prefilled beside sequences that decode. If not,
  /// decoding waits as long as there are prompts.
  bool fusesPrompts = true;
  /// The number of lock-step groups to which requests are dealt in turn.
  double groups = 1;
  /// The arrival rate divided by the saturation rate of the service: an upper
  /// bound of the share of time that prefill takes.
  double utilization = 1;

  /// The steady state: the moments of a step, the time in us that each prompt
  /// beyond the first adds to a step, and the share of steps without any
  /// prompt.
  TimeMoments step;
  double furtherUs = 0, shareWithoutPrompts = 1;

  /// Sets F, and corrects the times that prompts add for the spread of prompt
  /// lengths. `us` is the time of a step with one prompt of mean length, of
  /// which the prompt adds `addedUs`.
  void setFirstPrompt(double us, double addedUs);
  /// Finds the steady state. `guessUs` is an estimate of the mean step in us.
  void settle(double guessUs);

  double leastUs() const { return std::min(decodeUs, firstPromptUs); }
  double mostUs() const { return std::max(decodeUs, fullUs() * maxPrompts); }
  double promptsPerStep() const { return arrivalsPerUs * chunks * step.mean; }
  /// Returns the time that a prompt takes if all steps are full, in us (S7).
  double fullUs() const;
  /// Returns the time that `prompts` Poisson arrivals in the mean add to a
  /// step, in us (S2).
  double prefillUs(double prompts) const;
  /// Returns the time in us that `prompts` Poisson arrivals take on an engine
  /// that alternates: it prefills all of them, in several steps if one step has
  /// no room, before it decodes again (S8).
  double fullRunUs(double prompts) const;
  /// Returns the time that each prompt adds to steps in the steady state, in
  /// us.
  double promptUs() const { return furtherUs * chunks; }
  /// Returns the share of the time between first and last token that prefill
  /// takes.
  double prefillLoad() const {
    return std::min(utilization, arrivalsPerUs * fullUs());
  }
  /// Returns the mean time from token to token in us (S4); `guessUs` estimates
  /// it.
  double tokenUs(double guessUs) const;
  /// Returns the time in us that a request waits longer than `tokenUs` for each
  /// of its `steps` tokens, because its decoding begins behind its own prompt
  /// (S5).
  double behindOwnPromptUs(double steps) const;
  /// Returns the variance of the mean of many steps in a row, times their
  /// number, in us^2 (S6).
  double varianceOfSum() const;
  /// Returns the time from the arrival of a prompt to its first token (S9). A
  /// step runs at the arrival with the probability `busy`.
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
