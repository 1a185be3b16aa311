//===- OpenLoop.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenLoop.h"

#include "RootFinding.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace autopar;
using namespace autopar::serving;

ServingRefusal OpenLoop::findLine() {
  StepTime one;
  if (ServingRefusal refusal = prices.priceServed(decodeOf(load, 1), one))
    return refusal;
  double more = full.running * prices.lockStepReplicas() - 1;
  line.oneUs = one.us;
  line.growthUs = (full.queue.decodeUs - one.us) / std::max(1.0, more);
  return {};
}

/// Returns the mean number of sequences on the replica that has the most of
/// `requests` requests, if each request goes to the replica with the fewest.
static double largestOf(double requests, double replicas) {
  double even = requests / replicas;
  return std::max(1.0, even + (replicas - 1) / (2 * replicas));
}

/// Finds the mean time of a token from the requests that arrive in the time of
/// one request (Q2). A request meets one more request than there are in the
/// mean.
ServingRefusal OpenLoop::findToken(double mostSequences, double &tokenUs) {
  double replicas = prices.lockStepReplicas();
  double perTokenUs = queue.arrivalsPerUs * decodedSteps(load);
  auto excessAt = [&](double us, double &excess) {
    double running = std::min(mostSequences / replicas,
                              largestOf(1 + perTokenUs * us, replicas));
    if (auto refusal = steps.describe(load, running, queue, decode))
      return refusal;
    excess = queue.tokenUs(us) - us;
    return ServingRefusal();
  };
  // No more sequences run than have room (Little's law).
  return findZero(line.oneUs, 0, mostSequences / perTokenUs, excessAt, tokenUs);
}

ServingRefusal OpenLoop::serveAll() {
  // From a share of 1 - 1e-6 of the places on, a replica is full but for
  // rounding.
  constexpr double nearlyAll = 1 - 1e-6;
  if (auto refusal = findLine())
    return refusal;
  double replicas = prices.lockStepReplicas(), most = full.running * replicas;
  double us = 0;
  if (auto refusal = findToken(most, us))
    return refusal;
  queue.settle(us);
  double tokenUs = us + queue.behindOwnPromptUs(decodingSteps(load));
  state.tpotUs = tokenUs / load.tokensPerStep;
  // The number of running requests follows from Little's law.
  double wanted = queue.arrivalsPerUs * load.decodedTokens() * state.tpotUs;
  state.running = std::min(most, wanted) / replicas;
  state.fillsRoom = wanted >= most * nearlyAll;
  if (wanted > most)
    state.tpotUs *= most / wanted;
  return {};
}

/// Sets the rates and times of a saturated service, whose queue grows.
ServingRefusal OpenLoop::serveMost() {
  state.running = full.running;
  state.tpotUs = full.stepUs / load.tokensPerStep;
  state.ttftUs = std::numeric_limits<double>::infinity();
  state.shareWithinLimits = load.limits.any() ? 0 : 1;
  auto refusal = steps.describe(load, full.running, queue, decode);
  queue.settle(full.stepUs);
  return refusal;
}

/// Adds the wait for one of the group's `places` (Q3). The sequences share what
/// the group computes, so that each sequence takes longer the more sequences
/// there are.
void OpenLoop::waitForRoom(double places) {
  if (decodedSteps(load) == 0)
    return;
  double promptUs = full.queue.promptUs(), firstUs = times.first.mean();
  auto occupancy = [&](double count) {
    double decodeUs = decodedSteps(load) * line.at(count);
    return queue.arrivalsPerUs * ((firstUs + decodeUs) / count + promptUs);
  };
  double used = std::min(mostLoad, queue.utilization);
  times.waiting.share = shareThatWaits(places, occupancy, used);
  // The wait is half as long if all answers have the same length, because
  // requests then end in the order in which they began (Lee and Longton 1959,
  // DOI 10.1057/jors.1959.5).
  times.waiting.meanUs = times.waiting.share / full.mostPerUs *
                         (1 + load.answerVariation) / (2 * (1 - used));
}

void OpenLoop::timeRequests(double places) {
  double replicas = prices.lockStepReplicas();
  double sequences = state.running * replicas, busy = -std::expm1(-sequences);
  times.first = queue.toFirstToken(busy);
  state.firstToken = queue.partsOf(times.first, busy);
  // The number of requests that are prefilled follows from Little's law.
  state.prefilling = queue.arrivalsPerUs * times.first.mean() / replicas;
  times.first.add(outsideSteps(host, load, sequences, busy, state));
  waitForRoom(places * replicas);
  state.waiting = queue.arrivalsPerUs * times.waiting.meanUs / replicas;
  state.firstToken.queueUs += times.waiting.meanUs;
  state.ttftUs = state.firstToken.sum();
  double growthUs = (full.queue.decodeUs - queue.decodeUs) /
                    std::max(1.0, full.running - state.running);
  times.spread(load, state, queue.varianceOfSum(), growthUs);
}

ServingRefusal OpenLoop::run() {
  double groups = prices.groupCount(), places = state.running;
  if (auto refusal = steps.findSpread(load, full.queue.spread))
    return refusal;
  if (auto refusal = steps.findFull(load, state, full))
    return refusal;
  full.queue.settle(full.stepUs);
  queue.spread = full.queue.spread;
  queue.arrivalsPerUs = full.queue.arrivalsPerUs;
  queue.utilization = std::min(1.0, queue.arrivalsPerUs / full.mostPerUs);
  state.mostPerS = full.mostPerUs * 1e6 * groups;
  state.isOverloaded = queue.arrivalsPerUs >= full.mostPerUs;
  double servedPerUs = std::min(queue.arrivalsPerUs, full.mostPerUs);
  state.outputTokensPerSecond = 1e6 * servedPerUs * groups * load.answerTokens;
  if (auto refusal = state.isOverloaded ? serveMost() : serveAll())
    return refusal;
  state.setDecodeStep(decode.us, decode.communicationUs, decode.hostUs);
  state.promptStepUs = queue.firstPromptUs;
  state.addedByPromptUs = queue.promptUs();
  state.promptsPerStep =
      std::max(1.0, servedPerUs * state.tpotUs * load.tokensPerStep);
  if (!state.isOverloaded)
    timeRequests(places);
  return {};
}
