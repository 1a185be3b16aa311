//===- StepQueue.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepQueue.h"

#include "RootFinding.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

//===----------------------------------------------------------------------===//
// What prompts add to a step
//===----------------------------------------------------------------------===//

void StepQueue::setFirstPrompt(double us, double addedUs) {
  double further = furtherPromptUs + sameReplicaUs;
  // Chunks after the first one share their steps with other prompts.
  double sharedUs = std::max(0.0, addedUs - further);
  double correctionUs = addedUs * (spread.added - 1);
  if (chunks <= 1)
    correctionUs -= sharedUs * spread.furtherSteps;
  correctionUs = std::max(correctionUs, -addedUs);
  firstPromptUs = us + correctionUs;
  // Short prompts reduce first what a first prompt adds alone, so that further
  // prompts get only their share of a correction downwards.
  double share = addedUs > 0 ? further / addedUs : 1;
  double eachUs = correctionUs < 0 ? share * correctionUs : correctionUs;
  if (lengths.replicas <= 1) {
    furtherPromptUs += eachUs;
    return;
  }
  sameReplicaUs = std::max(0.0, sameReplicaUs + eachUs);
  // The time of a step varies with the length of a prompt by all that the
  // prompt adds; what further prompts add counts as one unit.
  double unit = std::max(1e-9, furtherPromptUs + sameReplicaUs);
  double added = addedByFirstUs() / unit;
  times = lengths;
  times.squaredVariation =
      std::max(lengths.squaredVariation, added * added * spread.stepVariation);
}

double StepQueue::fullUs() const {
  double perReplica = std::max(1.0, maxPrompts / lengths.replicas) - 1;
  double further = (maxPrompts * chunks - 1) * furtherPromptUs;
  return (firstPromptUs + further + perReplica * sameReplicaUs) / maxPrompts;
}

/// Returns the time in us that a prompt beyond the first adds to a step in
/// which `prompts` prompts arrive in the mean (S1).
double StepQueue::furtherUsAt(double prompts) const {
  // Below 0.1 prompts per step, the digits of (largest - any) / (prompts - any)
  // cancel.
  constexpr double fewestPrompts = 0.1;
  if (sameReplicaUs <= 0)
    return furtherPromptUs;
  prompts = std::max(prompts, fewestPrompts);
  double any = -std::expm1(-prompts);
  double onLargest = (times.largest(prompts) - any) / (prompts - any);
  return furtherPromptUs + sameReplicaUs * std::max(0.0, onLargest);
}

double StepQueue::prefillUs(double prompts) const {
  double count = prompts * chunks, any = -std::expm1(-count);
  return any * addedByFirstUs() + (count - any) * furtherUsAt(count);
}

double StepQueue::fullRunUs(double prompts) const {
  double any = -std::expm1(-prompts), most = lengths.largestUnlimited(prompts);
  double steps = std::max(any, most / lengths.limit + any / 2);
  return steps * (firstPromptUs - furtherPromptUs - sameReplicaUs) +
         furtherPromptUs * prompts +
         sameReplicaUs * times.largestUnlimited(prompts);
}

//===----------------------------------------------------------------------===//
// The steady state of steps
//===----------------------------------------------------------------------===//

/// The share of steps without prompts, pi_0 (S3). With N prompts in a step, the
/// generating function G of N is its own image: a step that follows N >= 1
/// prompts takes F - e + N e, one that follows none takes D. G at the iterates
/// s_0 = 0, s_(i+1) = exp(-rate e (1 - s_i)) is a line in pi_0 = G(s_0), found
/// from the last iterate, near 1, to the first (Resing 1993, DOI
/// 10.1007/BF01149263).
double StepQueue::withoutPrompts(double furtherUs) const {
  // From 1 - s = 0.03 on, G is straight to 3 digits, and the sum of the
  // remaining terms has a closed form.
  constexpr double straight = 0.03;
  constexpr size_t most = 64;
  double rate = arrivalsPerUs * chunks;
  double growth = std::min(mostLoad, rate * furtherUs);
  double offset = rate * (firstPromptUs - furtherUs), decode = rate * decodeUs;
  std::array<double, most> below;
  size_t count = 0;
  double next = 1;
  while (count < most && next > straight) {
    below[count++] = next;
    next = -std::expm1(-growth * next);
  }
  // The sum of all further values 1 - s, each of which is growth * (1 - growth
  // / 2 * itself) of the value before.
  double rest = 0;
  if (growth > 0)
    rest = 2 / growth * std::log1p(growth / 2 * next / (1 - growth));
  double constant = std::exp(-offset * rest);
  double sum = offset > 0 ? (1 - constant) / offset : rest;
  double slope = (offset - decode) * sum;
  while (count-- > 0) {
    double without = std::exp(-offset * below[count]);
    constant *= without;
    slope = std::exp(-decode * below[count]) + without * (slope - 1);
  }
  return std::clamp(constant / (1 - slope), 0.0, 1.0);
}

/// Returns the mean time of steps if as many of them have prompts as with steps
/// of `stepUs`.
double StepQueue::meanAfter(double stepUs, StepsAfter &steps) const {
  double rate = arrivalsPerUs * chunks;
  steps.furtherUs = furtherUsAt(rate * stepUs);
  steps.withoutPrompts = withoutPrompts(steps.furtherUs);
  double none = steps.withoutPrompts, more = rate * steps.furtherUs;
  if (more >= 1)
    return mostUs();
  double us = none * decodeUs + (1 - none) * (firstPromptUs - steps.furtherUs);
  return std::clamp(us / (1 - more), leastUs(), mostUs());
}

double StepQueue::settledUs(double guessUs, StepsAfter &steps) const {
  if (arrivalsPerUs <= 0)
    return decodeUs;
  // Without lock step, the time that a prompt adds does not depend on the mean
  // step.
  if (sameReplicaUs <= 0)
    return meanAfter(guessUs, steps);
  double us = guessUs;
  auto excessAt = [&](double stepUs, double &excess) {
    excess = meanAfter(stepUs, steps) - stepUs;
    return ServingRefusal();
  };
  findZero(guessUs, leastUs(), mostUs(), excessAt, us);
  return us;
}

void StepQueue::settle(double guessUs) {
  StepsAfter steps;
  step = {settledUs(guessUs, steps), 0, 0};
  furtherUs = steps.furtherUs;
  shareWithoutPrompts = steps.withoutPrompts;
  if (arrivalsPerUs > 0)
    step.variance = varianceOfStep();
}

/// Returns the mean time from token to token of an engine that alternates,
/// which decodes only in the steps without prompts.
static double tokenOfStepUs(double stepUs, double withoutPrompts) {
  // A share of steps below 1e-9 belongs to an overload.
  constexpr double smallestShare = 1e-9;
  return stepUs / std::max(smallestShare, withoutPrompts);
}

double StepQueue::tokenUs(double guessUs) const {
  StepsAfter steps;
  double us = settledUs(guessUs, steps);
  return fusesPrompts ? us : tokenOfStepUs(us, steps.withoutPrompts);
}

//===----------------------------------------------------------------------===//
// Variance of several steps in a row
//===----------------------------------------------------------------------===//

/// Returns, in us, how much the time of a step with prompts varies with the
/// length of its first prompt, beyond the variance of what each of its prompts
/// adds.
double StepQueue::lengthScaleUs() const {
  double added = addedByFirstUs();
  double square = added * added - furtherUs * furtherUs;
  return chunks > 1 ? 0 : std::sqrt(std::max(0.0, square));
}

/// Returns the variance Var T of (S6). Its sources are the number of prompts,
/// their lengths, and whether there is any prompt.
double StepQueue::varianceOfStep() const {
  // Long steps follow long steps. Near 1, the sum over all steps before has no
  // digits.
  constexpr double mostFollowing = 0.99;
  double prompts = promptsPerStep(), none = shareWithoutPrompts;
  double follows = arrivalsPerUs * chunks * furtherUs;
  double jump = firstPromptUs - furtherUs - decodeUs, scale = lengthScaleUs();
  double variance =
      furtherUs * furtherUs * (1 + spread.addedVariation) * prompts +
      scale * scale * spread.stepVariation * (1 - none) +
      jump * none * (jump * (1 - none) + 2 * furtherUs * prompts);
  return variance / (1 - std::min(mostFollowing, follows * follows));
}

/// Returns g of (S6): by how many us the next step is longer, in the mean, for
/// each us of a step, from steps without prompts to steps with prompts.
double StepQueue::growth() const {
  constexpr double fewest = 1e-9;
  double rate = arrivalsPerUs * chunks, none = shareWithoutPrompts;
  double jump = firstPromptUs - furtherUs - decodeUs;
  double longer =
      jump + furtherUs * promptsPerStep() / std::max(fewest, 1 - none);
  double rarer = std::exp(-rate * decodeUs) * -std::expm1(-rate * longer);
  return rate * furtherUs + jump * (longer > 0 ? rarer / longer : rate);
}

double StepQueue::varianceOfSum() const {
  // Beyond a growth of 0.9, a request is too short to see all steps that
  // follow.
  constexpr double mostGrowth = 0.9;
  double follows = std::clamp(growth(), -mostGrowth, mostGrowth);
  return step.variance * (1 + follows) / (1 - follows);
}

double StepQueue::behindOwnPromptUs(double steps) const {
  constexpr double mostGrowth = 0.98;
  double met = step.mean + step.variance / step.mean;
  double beside = arrivalsPerUs * furtherUs * shareBeside() * met;
  double ownUs = firstPromptUs + beside + waitUs() / chunks;
  if (!fusesPrompts) {
    // The time of the steps with prompts that follow, in proportion to what the
    // first of them prefills.
    ownUs += (firstPromptUs + waitUs() / chunks) * (chunks - 1);
    auto workIn = [&](double us) {
      double any = -std::expm1(-arrivalsPerUs * us);
      return (firstPromptUs - furtherUs) * any + furtherUs * arrivalsPerUs * us;
    };
    double usual = workIn(decodeUs),
           runUs = tokenOfStepUs(step.mean, shareWithoutPrompts) - decodeUs;
    double more = usual > 0 ? runUs * (workIn(ownUs) / usual - 1) : 0;
    return std::max(0.0, more) / steps;
  }
  double follows = std::clamp(growth(), 0.0, mostGrowth);
  double excess = std::max(0.0, ownUs - step.mean) * follows;
  double sum = excess * (1 - std::pow(follows, steps)) / (1 - follows);
  // When a prefill of several steps ends, other replicas have prefilled a part
  // of what arrived during it.
  double replicas = lengths.replicas;
  double left = (chunks + (replicas - 1) * (chunks + 1) / 2) / replicas;
  // No step is longer than a full one.
  return std::min(left * sum / steps, std::max(0.0, mostUs() - step.mean));
}
