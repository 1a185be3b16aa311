//===- ClosedLoop.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClosedLoop.h"

#include "RootFinding.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

//===----------------------------------------------------------------------===//
// Prices of the steps
//===----------------------------------------------------------------------===//

/// Returns the number of prompts that a step of the lock-step group has room
/// for: whole prompts if at least one fits, else a part of one.
double ClosedLoop::mostPerStep() const {
  double each = runtime.tokenBudget.value / load.uncachedTokens();
  return (each >= 1 ? std::floor(each) : each) * prices.lockStepReplicas();
}

/// Returns the mean number of prompts in a step that has any. In a step, one of
/// `answerTokens` of the running requests ends, which is a Poisson number, and
/// new requests take their places.
double ClosedLoop::promptsPerStep() const {
  double running = state.running * prices.lockStepReplicas();
  double ends = running * load.tokensPerStep / load.answerTokens;
  double arrive = ends / -std::expm1(-ends);
  return std::max(1.0, std::min({arrive, mostPerStep(), running}));
}

/// Returns the number of requests of the group that run beside a given request.
double ClosedLoop::runningOthers() const {
  return std::max(0.0, state.running * prices.lockStepReplicas() - 1);
}

/// Prices the steps of the replica that has the most sequences.
ServingRefusal ClosedLoop::priceSteps() {
  StepLoad decoding = decodeOf(load, std::ceil(state.running));
  StepTime decode, withPrompts;
  if (ServingRefusal refusal = prices.price(decoding, decode))
    return refusal;
  state.setDecodeStep(decode.us, decode.communicationUs, decode.hostUs);
  state.promptsPerStep = promptsPerStep();
  double chunks = 1;
  if (runtime.cutsPrompts)
    chunks = std::max(1.0, load.uncachedTokens() / runtime.tokenBudget.value);
  StepLoad prompts = prefillOf(load, state.promptsPerStep), mixed = decoding;
  mixed.decoding = runtime.fusesPrompts ? decoding.decoding : 0;
  mixed.prompts = prompts.prompts;
  mixed.promptTokens = std::round(prompts.promptTokens / chunks);
  // A chunk attends, in the mean, to half of the other chunks of its prompt.
  mixed.promptContext = prompts.promptContext -
                        std::round(prompts.promptTokens * (1 - 1 / chunks) / 2);
  if (ServingRefusal refusal = prices.priceBetween(mixed, withPrompts))
    return refusal;
  state.promptStepUs = withPrompts.us * chunks;
  double beside = runtime.fusesPrompts ? decode.us * chunks : 0;
  state.addedByPromptUs =
      std::max(0.0, state.promptStepUs - beside) / state.promptsPerStep;
  return {};
}

/// Finds the mean prefill time of `running` requests that arrive at once. Each
/// step prefills as many of them as have room and decodes those that were
/// prefilled before, so that the step times are a line from the first one, p,
/// to the last one, q. After J steps, a share x of the requests is done at the
/// time J (p x + (q - p) x^2 / 2); the requests end in M groups.
ServingRefusal ClosedLoop::burst(double running, double &us) {
  double each = runtime.tokenBudget.value / load.uncachedTokens();
  if (!runtime.cutsPrompts)
    each = std::max(1.0, std::floor(each));
  each = std::min(each, running);
  double whole = std::max(1.0, std::floor(each));
  StepLoad step = prefillOf(load, whole * prices.lockStepReplicas());
  StepTime first, last;
  if (ServingRefusal refusal = prices.priceServed(step, first))
    return refusal;
  last = first;
  if (runtime.fusesPrompts && running > whole) {
    step.decoding = running - whole;
    step.context = std::round(load.promptTokens);
    if (ServingRefusal refusal = prices.priceServed(step, last))
      return refusal;
  }
  double groups = each < 1 ? running : std::ceil(running / each);
  double mean = (groups + 1) / (2 * groups);
  double square = mean * (2 * groups + 1) / (3 * groups);
  us = running / whole * (first.us * mean + (last.us - first.us) * square / 2);
  return {};
}

//===----------------------------------------------------------------------===//
// Times of requests
//===----------------------------------------------------------------------===//

/// Sets the throughput in tokens/s by Little's law.
void ClosedLoop::setThroughput() {
  double us = state.ttftUs - state.firstToken.sendUs + answerUs();
  state.outputTokensPerSecond =
      1e6 * static_cast<double>(load.concurrency) * load.answerTokens / us;
}

/// Returns the shortest prefill time in us: if answers are short, a prompt
/// waits at least for the prompts of all other requests.
double ClosedLoop::leastPrefillUs() const {
  return state.running * prices.lockStepReplicas() * state.promptStepUs /
             state.promptsPerStep -
         answerUs();
}

/// Returns the time in us that a request waits for a place. A request holds its
/// place from its prefill to its end.
double ClosedLoop::placeUs(double prefillUs) const {
  return state.waiting / state.running * (prefillUs + answerUs());
}

/// Returns the time in us until the step that runs at an arrival ends: half of
/// a step that is drawn by its length, because longer steps meet more arrivals.
double ClosedLoop::untilStepEndsUs() const {
  double stepsWithPrompts = state.others / state.promptsPerStep;
  double share = std::min(1.0, stepsWithPrompts * state.promptStepUs /
                                   (load.answerTokens * state.tpotUs));
  return (share * state.promptStepUs + (1 - share) * state.decodeStepUs) / 2;
}

ServingRefusal ClosedLoop::findMeans() {
  double others = runningOthers(), busy = std::min(1.0, others);
  FirstTokenParts &parts = state.firstToken;
  parts.prefillUs = state.promptStepUs;
  parts.stepUs = busy * untilStepEndsUs();
  double aloneUs = parts.sum(), prefillUs = aloneUs;
  if (load.rounds > 0) {
    double firstUs = 0;
    if (auto refusal = burst(std::ceil(state.running), firstUs))
      return refusal;
    prefillUs += std::max(0.0, firstUs - prefillUs) / load.rounds;
  }
  prefillUs = std::max(prefillUs, leastPrefillUs());
  parts.queueUs = prefillUs - aloneUs + placeUs(prefillUs);
  outsideSteps(host, load, others * answerUs() / (prefillUs + answerUs()), busy,
               state);
  state.ttftUs = parts.sum();
  return {};
}

/// Finds the queue in which the other requests arrive once in the time of one
/// request. This is a fixed point, because a request never queues behind itself
/// (arrival theorem).
ServingRefusal ClosedLoop::findFirst(FirstTokenTime &first, StepQueue &queue) {
  EngineSteps steps(prices, runtime);
  PrefillSpread spread;
  if (auto refusal = steps.findSpread(load, spread))
    return refusal;
  double others = runningOthers(), stepUs = state.tpotUs * load.tokensPerStep;
  double outsideUs = state.waiting > 0 ? 0 : state.firstToken.hostUs;
  StepTime decode;
  auto excessAt = [&](double us, double &excess) {
    queue = {};
    queue.spread = spread;
    queue.arrivalsPerUs = others / (us + outsideUs + answerUs());
    if (auto refusal = steps.describe(load, state.running, queue, decode))
      return refusal;
    queue.settle(stepUs);
    first = queue.toFirstToken(std::min(1.0, others));
    excess = first.mean() - us;
    return ServingRefusal();
  };
  // A prompt waits at most for the prompts of all other requests.
  double guess = state.firstToken.prefillUs + state.firstToken.stepUs, us = 0;
  return findZero(guess, 0, guess + others * state.promptStepUs, excessAt, us);
}

/// Finds the distributions of the times around their means.
ServingRefusal ClosedLoop::findSpread() {
  StepQueue queue;
  ServiceTimes times;
  if (auto refusal = findFirst(times.first, queue))
    return refusal;
  double prefillUs = std::max(times.first.mean(), leastPrefillUs());
  times.first.scaleTo(prefillUs);
  double others = runningOthers(), busy = std::min(1.0, others);
  state.firstToken = queue.partsOf(times.first, busy);
  double streams = others * answerUs() / (prefillUs + answerUs());
  times.first.add(outsideSteps(host, load, streams, busy, state));
  state.firstToken.queueUs += placeUs(prefillUs);
  state.ttftUs = state.firstToken.sum();
  times.first.scaleTo(state.ttftUs);
  setThroughput();
  times.spread(load, state, queue.varianceOfSum(), /*growthUs=*/0);
  times.fill(load.limits, state);
  return {};
}

ServingRefusal ClosedLoop::run() {
  if (auto refusal = priceSteps())
    return refusal;
  double running = state.running * prices.lockStepReplicas();
  state.others = std::max(0.0, running - state.promptsPerStep);
  double interrupts = state.others / load.answerTokens;
  // For each of its tokens, a step prefills no more prompts than it has room
  // for.
  if (runtime.fusesPrompts)
    interrupts = std::min(interrupts, mostPerStep() / load.tokensPerStep);
  // If prompts arrive at once, each of them is interrupted by half of the
  // others only.
  if (load.rounds > 0)
    interrupts *= 1 - 0.5 / std::max(1.0, load.rounds);
  state.tpotUs = state.decodeStepUs / load.tokensPerStep +
                 interrupts * state.addedByPromptUs;
  if (auto refusal = findMeans())
    return refusal;
  setThroughput();
  return load.hasSpread ? findSpread() : ServingRefusal();
}
