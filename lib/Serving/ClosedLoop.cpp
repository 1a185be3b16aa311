//===- ClosedLoop.cpp - Requests that come where others end ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FalsePosition.h"
#include "ServiceTimes.h"
#include "autopar/Serving/Server.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

/// Until the step that runs when a request comes is over, in the mean: half of
/// it, and long ones run more often than short ones.
static double untilStepEndsUs(const ServedLoad &load,
                              const SteadyState &state) {
  double stepsWithPrompts = state.others / state.promptsPerStep;
  double share = std::min(1.0, stepsWithPrompts * state.promptStepUs /
                                   (load.answerTokens * state.tpotUs));
  return (share * state.promptStepUs + (1 - share) * state.decodeStepUs) / 2;
}

/// Little's law.
static void setThroughput(const ServedLoad &load, SteadyState &state) {
  double us = state.ttftUs - state.firstToken.sendUs +
              load.decodedTokens() * state.tpotUs;
  state.outputTokensPerSecond =
      1e6 * static_cast<double>(load.concurrency) * load.answerTokens / us;
}

/// That run beside a request, of replicas that step together.
double Server::runningOthers(const SteadyState &state) const {
  return std::max(0.0, state.running * prices.togetherCount() - 1);
}

TimeMoments Server::outside(const ServedLoad &load, double streams, double busy,
                            SteadyState &state) const {
  if (load.isRead)
    return {};
  FirstTokenParts &parts = state.firstToken;
  parts.hostUs = host.timeUs(load.promptTokens, streams);
  parts.sendUs = host.sendingUs(load.answerTokens, state.tpotUs);
  double receivingUs = host.receivingUs(state.decodeStepUs);
  parts.stepUs += busy * receivingUs;
  TimeMoments time;
  time.mean = parts.hostUs + parts.sendUs + busy * receivingUs;
  double tokensUs = host.perTokenUs * load.promptTokens;
  // It comes in any of those steps.
  time.variance = tokensUs * tokensUs * load.promptVariation +
                  busy * receivingUs * receivingUs / 3;
  return time;
}

/// Prompts wait at least for those of all others, where answers are short.
static double leastReadUs(const ServedLoad &load, const SteadyState &state,
                          double together) {
  return state.running * together * state.promptStepUs / state.promptsPerStep -
         load.decodedTokens() * state.tpotUs;
}

/// For a place, which each has for as long as it is read and answers.
static double placeUs(const ServedLoad &load, const SteadyState &state,
                      double readUs) {
  return state.waiting / state.running *
         (readUs + load.decodedTokens() * state.tpotUs);
}

ServingRefusal Server::meanOfFirst(const ServedLoad &load, SteadyState &state) {
  double others = runningOthers(state), busy = std::min(1.0, others);
  FirstTokenParts &parts = state.firstToken;
  parts.readUs = state.promptStepUs;
  parts.stepUs = busy * untilStepEndsUs(load, state);
  double aloneUs = parts.sum(), readUs = aloneUs;
  if (load.rounds > 0) {
    double firstUs = 0;
    if (auto refusal = burst(load, std::ceil(state.running), firstUs))
      return refusal;
    readUs += std::max(0.0, firstUs - readUs) / load.rounds;
  }
  readUs = std::max(readUs, leastReadUs(load, state, prices.togetherCount()));
  parts.queueUs = readUs - aloneUs + placeUs(load, state, readUs);
  double answerUs = load.decodedTokens() * state.tpotUs;
  outside(load, others * answerUs / (readUs + answerUs), busy, state);
  state.ttftUs = parts.sum();
  return {};
}

/// The time in which as many come as answer in it, but for oneself: a fixed
/// point.
ServingRefusal Server::firstOfClosed(const ServedLoad &load,
                                     const SteadyState &state, double outsideUs,
                                     FirstTokenTime &first,
                                     PromptQueue &queue) {
  double others = runningOthers(state), tokenUs = state.tpotUs;
  double answerUs = outsideUs + load.decodedTokens() * tokenUs;
  ReadLaw law;
  if (auto refusal = findLaw(load, law))
    return refusal;
  StepTime decode;
  auto excessAt = [&](double us, double &excess) {
    queue = {};
    queue.law = law;
    queue.ratePerUs = others / (us + answerUs);
    double stepUs = tokenUs * load.tokensPerStep;
    if (auto refusal = queueOf(load, state.running, stepUs, queue, decode))
      return refusal;
    queue.settle(queue.stepUsOf(stepUs));
    first = queue.toFirstToken(std::min(1.0, others));
    excess = first.mean() - us;
    return ServingRefusal();
  };
  // It waits for the prompts of all others at most.
  double guess = state.firstToken.readUs + state.firstToken.stepUs;
  double us = 0, fall = 1;
  return findZero(guess, fall, 0, guess + others * state.promptStepUs, excessAt,
                  us);
}

ServingRefusal Server::spreadClosed(const ServedLoad &load,
                                    SteadyState &state) {
  PromptQueue queue;
  ServiceTimes times;
  double outsideUs = state.waiting > 0 ? 0 : state.firstToken.hostUs;
  if (auto refusal = firstOfClosed(load, state, outsideUs, times.first, queue))
    return refusal;
  double readUs = std::max(times.first.mean(),
                           leastReadUs(load, state, prices.togetherCount()));
  times.first.scaleTo(readUs);
  double others = runningOthers(state), busy = std::min(1.0, others);
  state.firstToken = queue.partsOf(times.first, busy);
  double answerUs = load.decodedTokens() * state.tpotUs;
  double streams = others * answerUs / (readUs + answerUs);
  times.first.add(outside(load, streams, busy, state));
  state.firstToken.queueUs += placeUs(load, state, readUs);
  state.ttftUs = state.firstToken.sum();
  times.first.scaleTo(state.ttftUs);
  setThroughput(load, state);
  spread(load, queue, 0, times, state);
  times.fill(load.limits, state);
  return {};
}

/// Where `state.running` requests of a replica run in the mean; steps are those
/// of the one that has most.
ServingRefusal Server::serveClosed(const ServedLoad &load, SteadyState &state) {
  double context = load.contextTokens();
  double largest = std::ceil(state.running);
  StepTime decode, withPrompts;
  state.promptsPerStep = promptsPerStep(load, state.running);
  StepLoad decoding{largest, context};
  addDrafts(load, decoding);
  if (auto refusal = price(decoding, decode))
    return refusal;
  // Longer prompts are read in pieces, which see half of the others.
  double pieces =
      runtime.cutsPrompts
          ? std::max(1.0, load.readTokens() / runtime.tokenBudget.value)
          : 1;
  StepLoad mixed = readingOf(load, state.promptsPerStep);
  if (pieces > 1) {
    mixed.promptContext -=
        std::round(mixed.promptTokens * (1 - 1 / pieces) / 2);
    mixed.promptTokens = std::round(mixed.promptTokens / pieces);
  }
  mixed.decoding = runtime.fusesPrompts ? largest : 0;
  mixed.context = context;
  addDrafts(load, mixed);
  if (auto refusal = priceBetween(mixed, &StepLoad::prompts, withPrompts))
    return refusal;
  setDecodeStep(state, decode);
  state.promptStepUs = withPrompts.us * pieces;
  double beside = runtime.fusesPrompts ? decode.us * pieces : 0;
  state.addedByPromptUs =
      std::max(0.0, state.promptStepUs - beside) / state.promptsPerStep;
  // While a request answers, each of the others is replaced once.
  double together = state.running * prices.togetherCount();
  state.others = std::max(0.0, together - state.promptsPerStep);
  double interrupts = state.others / load.answerTokens;
  // No more of a token than a step reads beside it.
  if (runtime.fusesPrompts)
    interrupts = std::min(interrupts, mostPerStep(load) / load.tokensPerStep);
  // Prompts that all come at once meet half of each other.
  if (load.rounds > 0)
    interrupts *= 1 - 0.5 / std::max(1.0, load.rounds);
  state.tpotUs = state.decodeStepUs / load.tokensPerStep +
                 interrupts * state.addedByPromptUs;
  if (auto refusal = meanOfFirst(load, state))
    return refusal;
  setThroughput(load, state);
  return load.hasSpread ? spreadClosed(load, state) : ServingRefusal();
}
