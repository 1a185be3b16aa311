//===- OpenLoop.cpp - Requests that come when they come -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FalsePosition.h"
#include "ServiceTimes.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace autopar;

/// Where so many run, as many as end in a step come in the next: what such a
/// step takes that reads so many prompts in the mean.
static double fullStepUs(const PromptQueue &queue, double prompts) {
  // Full steps of their own, or part of one.
  if (!queue.fusesPrompts && queue.longestUs > 0)
    return queue.decodeUs + queue.fullRunUs(prompts);
  if (!queue.fusesPrompts && prompts > queue.perStep)
    return queue.decodeUs + prompts * queue.fullUs();
  return queue.decodeUs + queue.readUs(prompts);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// That a request decodes in.
static double decodedSteps(const ServedLoad &load) {
  return load.decodedTokens() / load.tokensPerStep;
}

/// Steps that times of tokens are means of.
static double decodingSteps(const ServedLoad &load) {
  return std::max(1.0, decodedSteps(load));
}

/// Of so many in replicas that step together, those of the one that has most:
/// each request goes to the one that has fewest.
static double ofLargest(double requests, double together) {
  double even = requests / together;
  return std::max(1.0, even + (together - 1) / (2 * together));
}

/// From a token to the next where a request meets so many others.
ServingRefusal Server::tokenAmong(const ServedLoad &load, double most,
                                  double others, PromptQueue &queue,
                                  StepTime &decode, double &us) {
  double together = prices.togetherCount();
  double running = std::min(most / together, ofLargest(1 + others, together));
  if (auto refusal = queueOf(load, running, queue, decode))
    return refusal;
  us = queue.decodeAndPromptsUs();
  if (queue.turns > 1) {
    PromptQueue met = queue;
    met.ratePerUs *= queue.shareMet(decodedSteps(load) * us);
    met.settle();
    us = met.decodeAndPromptsUs();
  }
  return {};
}

/// As many as come while one decodes, beside those that began with it; `us` is
/// from token to token among them.
ServingRefusal Server::findOthers(const ServedLoad &load, double most,
                                  const Bend &bend, PromptQueue &queue,
                                  StepTime &decode, double &others,
                                  double &us) {
  auto excessAt = [&](double met, double &excess) {
    auto refusal =
        tokenAmong(load, most, met + bend.companions, queue, decode, us);
    us *= bend.share;
    double wholeUs = us * decodedSteps(load);
    excess = queue.ratePerUs * wholeUs * queue.shareMet(wholeUs) - met;
    return refusal;
  };
  return findZero(others, 0, most, excessAt, others);
}

/// The share of a request's time that another one of its step has, too, which
/// began when it did: 1 less Gini's coefficient, of log-normal lengths.
static double sharedTime(const ServedLoad &load) {
  return std::erfc(std::sqrt(std::log1p(load.answerVariation)) / 2);
}

/// A token takes in the mean over how many decode what it does where they are
/// as many fewer and more than their mean as they deviate: `bend` is that over
/// what it takes with the mean. Steps that grow with what they decode keep it
/// away from its mean for longer: of servers that share, the variance over the
/// mean is 1 / (1 - growth) (BCMP 1975), the more where several begin at once.
ServingRefusal Server::bendOver(const ServedLoad &load, double most,
                                double others, PromptQueue &queue,
                                StepTime &decode, Bend &bend) {
  constexpr double mostGrowth = 0.95;
  double at = 0;
  // Whoever is there meets those that began with it beside the mean of others.
  bend.companions = sharedTime(load) * (queue.dispersion() - 1);
  double variance = others * (1 + bend.companions) / (1 - bend.growth);
  // Steps are straight over what so many vary by.
  constexpr double little = 3e-3;
  if (variance < little * others * others)
    return {};
  others += bend.companions;
  if (auto refusal = tokenAmong(load, most, others, queue, decode, at))
    return refusal;
  double few = std::max(0.0, others - std::sqrt(variance));
  double below = others - few, above = variance / below;
  double fewUs = 0, manyUs = 0;
  if (below <= 0)
    return {};
  if (auto refusal = tokenAmong(load, most, few, queue, decode, fewUs))
    return refusal;
  if (auto refusal =
          tokenAmong(load, most, others + above, queue, decode, manyUs))
    return refusal;
  bend.share = (fewUs * above + manyUs * below) / ((above + below) * at);
  bend.growth = std::clamp(queue.ratePerUs * decodedSteps(load) *
                               (manyUs - fewUs) / (above + below),
                           0.0, mostGrowth);
  return {};
}

/// Of Poisson's law, a request meets one more than there are in the mean. All
/// counts are of replicas that step together; `us` is from token to token.
ServingRefusal Server::findRunning(const ServedLoad &load, double most,
                                   PromptQueue &queue, StepTime &decode,
                                   double &running, double &us) {
  constexpr int rounds = 2;
  constexpr double near = 0.01;
  Bend bend;
  if (auto refusal = findOthers(load, most, bend, queue, decode, running, us))
    return refusal;
  double before = 0;
  for (int i = 0; i < rounds && std::abs(running - before) > near * running;
       ++i) {
    before = running;
    if (auto refusal = bendOver(load, most, running, queue, decode, bend))
      return refusal;
    if (auto refusal = findOthers(load, most, bend, queue, decode, running, us))
      return refusal;
  }
  // No more than have room (Little's law).
  us = std::min(us,
                most / std::max(1e-300, queue.ratePerUs * decodedSteps(load)));
  return {};
}

/// Requests are served together, up to `most`, and take the longer the more of
/// them there are: `steps` are those where most is served.
ServingRefusal Server::waitForRoom(const ServedLoad &load, double most,
                                   double firstUs, const FullSteps &steps,
                                   Waiting &waiting) {
  const PromptQueue &full = steps.queue;
  double mostPerUs = steps.mostPerUs;
  double running = steps.running * prices.togetherCount();
  if (decodedSteps(load) == 0)
    return {};
  PromptQueue one;
  one.law = full.law;
  StepTime decode;
  FirstStep first;
  if (auto refusal = describe(load, 1, one, decode, first))
    return refusal;
  double growth = (full.decodeUs - one.decodeUs) / std::max(1.0, running - 1);
  double promptUs = full.promptUs();
  auto occupancy = [&](double count) {
    double stepUs = one.decodeUs + growth * (count - 1);
    double decodeUs = decodedSteps(load) * stepUs;
    return full.ratePerUs * ((firstUs + decodeUs) / count + promptUs);
  };
  double near = std::min(0.999, full.ratePerUs / mostPerUs);
  waiting.share = shareThatWaits(most, occupancy, near);
  // Answers of one length end as they began: half as late (Lee and Longton
  // 1959, DOI 10.1057/jors.1959.5).
  waiting.meanUs =
      waiting.share / mostPerUs * (1 + load.answerVariation) / (2 * (1 - near));
  return {};
}

/// Where `state` has means: how they spread, and who waits how long.
void Server::spread(const ServedLoad &load, const PromptQueue &queue,
                    double growthUs, ServiceTimes &times,
                    const SteadyState &state) {
  double steps = decodingSteps(load), each = load.tokensPerStep;
  double tokens = steps * each;
  // Requests are as slow as the steps that they see, and as the number of
  // others, which stays for as long as they do.
  times.token.mean = state.tpotUs;
  times.token.variance =
      (queue.varianceOfSum() / steps + growthUs * growthUs * state.running) /
      (each * each);
  TimeMoments first = times.first.moments();
  times.request.mean =
      first.mean + times.waiting.meanUs + load.decodedTokens() * state.tpotUs;
  double decodeUs = tokens * state.tpotUs;
  times.request.variance = first.variance +
                           decodeUs * decodeUs * load.answerVariation +
                           tokens * tokens * times.token.variance;
}

/// For each request that ends where the caches of `running` are full and others
/// wait for room: what is evicted. Before a step, some room is left, less than
/// a prompt takes, and as likely as any; the step takes a token for each that
/// decodes, and those that end in it, of Poisson's law, give theirs back.
static double evictionsPerEnd(const ServedLoad &load, double running) {
  constexpr double least = 1e-9;
  double ends = running / decodedSteps(load);
  double lacks = running * load.tokensPerStep, term = std::exp(-ends);
  double evicted = 0;
  for (int count = 1; lacks > 0 && (term > least || count < ends); ++count) {
    evicted += term * lacks / load.promptTokens;
    lacks -= load.requestTokens();
    term *= ends / count;
  }
  return evicted / ends;
}

/// The steps of replicas where so many decode on each, and as many prompts come
/// as end, and as are evicted for each of those.
ServingRefusal Server::fullAt(const ServedLoad &load, double running,
                              double evictions, FullSteps &full) {
  constexpr double shortest = 1e-6;
  StepTime decode;
  FirstStep first;
  full.running = running;
  full.queue.ratePerUs = load.ratePerS / prices.groupCount() / 1e6;
  if (auto refusal = describe(load, running, full.queue, decode, first))
    return refusal;
  double ends =
      running * prices.togetherCount() / std::max(shortest, decodedSteps(load));
  double prompts = ends * (1 + evictions);
  full.isCrowded = prompts > full.queue.perStep;
  if (full.queue.fusesPrompts)
    prompts = std::min(prompts, full.queue.perStep);
  full.stepUs = fullStepUs(full.queue, prompts);
  full.mostPerUs = prompts / (1 + evictions) / full.stepUs;
  return {};
}

/// Where most is served: with all that have room, unless those leave prompts
/// too little room in the steps.
ServingRefusal Server::findFull(const ServedLoad &load,
                                const SteadyState &state, FullSteps &full) {
  constexpr double fewer = 0.85;
  bool evicts = state.isCacheFull && !runtime.reservesAnswers && !load.isRead &&
                load.decodedTokens() > 0;
  double evictions = evicts ? evictionsPerEnd(load, state.running) : 0;
  if (auto refusal = fullAt(load, state.running, evictions, full))
    return refusal;
  if (!runtime.fusesPrompts || load.isRead || !full.isCrowded)
    return {};
  // Less and less is served beyond the best of them.
  constexpr double much = 0.9;
  double running = state.running * fewer, served = full.mostPerUs;
  while (running >= 1 && served > much * full.mostPerUs) {
    FullSteps other;
    other.queue.law = full.queue.law;
    if (auto refusal = fullAt(load, std::floor(running), 0, other))
      return refusal;
    served = other.mostPerUs;
    if (served > full.mostPerUs)
      full = other;
    running *= fewer;
  }
  return {};
}

/// Where `state.running` says how many have room.
ServingRefusal Server::serveOpen(const ServedLoad &load, SteadyState &state,
                                 ServiceTimes &times) {
  double groups = prices.groupCount(), together = prices.togetherCount();
  FullSteps best;
  if (auto refusal = findLaw(load, best.queue.law))
    return refusal;
  if (auto refusal = findFull(load, state, best))
    return refusal;
  best.queue.settle();
  double places = state.running, most = best.running;
  double mostPerUs = best.mostPerUs, fullUs = best.stepUs;
  const PromptQueue &full = best.queue;
  PromptQueue queue;
  StepTime decode;
  queue.law = full.law;
  queue.ratePerUs = full.ratePerUs;
  state.mostPerS = mostPerUs * 1e6 * groups;
  state.isOverloaded = queue.ratePerUs >= mostPerUs;
  double servedPerUs = std::min(queue.ratePerUs, mostPerUs);
  state.outputTokensPerSecond = 1e6 * servedPerUs * groups * load.answerTokens;
  if (state.isOverloaded) {
    if (auto refusal = queueOf(load, most, queue, decode))
      return refusal;
    state.running = most;
    state.tpotUs = fullUs / load.tokensPerStep;
    state.ttftUs = std::numeric_limits<double>::infinity();
    state.shareWithinLimits = load.limits.any() ? 0 : 1;
  } else {
    double running = 0, us = 0;
    if (auto refusal =
            findRunning(load, most * together, queue, decode, running, us))
      return refusal;
    double afterOwnUs =
        queue.afterOwnUs(decodingSteps(load)) * (1 + load.answerVariation);
    state.tpotUs = (us + afterOwnUs / decodingSteps(load)) / load.tokensPerStep;
    // Little's law.
    double wanted =
        queue.ratePerUs * load.decodedTokens() * state.tpotUs / together;
    state.running = std::min(most, wanted);
    state.fillsRoom = wanted >= most * (1 - 1e-6);
  }
  setDecodeStep(state, decode);
  state.promptStepUs = queue.firstUs;
  state.addedByPromptUs = queue.promptUs();
  state.promptsPerStep =
      std::max(1.0, servedPerUs * state.tpotUs * load.tokensPerStep);
  if (state.isOverloaded)
    return {};
  times.first = queue.toFirstToken(-std::expm1(-state.running * together));
  // Little's law.
  state.reading = queue.ratePerUs * times.first.mean() / together;
  times.first.add(beforeAndAfter(load, state));
  if (auto refusal = waitForRoom(load, places * together, times.first.mean(),
                                 best, times.waiting))
    return refusal;
  state.waiting = queue.ratePerUs * times.waiting.meanUs / together;
  state.ttftUs = times.first.mean() + times.waiting.meanUs;
  spread(load, queue,
         (full.decodeUs - queue.decodeUs) / std::max(1.0, most - state.running),
         times, state);
  return {};
}

/// What requests take outside of steps: before the first of them, and until
/// the first token is seen.
TimeMoments Server::beforeAndAfter(const ServedLoad &load,
                                   const SteadyState &state) const {
  double before = runtime.requestTimePerTokenUs.value * load.promptTokens;
  if (load.isRead)
    return {};
  TimeMoments time;
  time.mean = before + runtime.firstTokenSteps.value * state.decodeStepUs;
  time.variance = before * before * load.promptVariation;
  return time;
}

/// As many come as end, but that nobody meets himself.
ServingRefusal Server::spreadClosed(const ServedLoad &load,
                                    SteadyState &state) {
  PromptQueue queue;
  StepTime decode;
  double requestUs = state.ttftUs + load.decodedTokens() * state.tpotUs;
  double running = state.running * prices.togetherCount();
  queue.ratePerUs = (running - 1) / requestUs;
  if (auto refusal = findLaw(load, queue.law))
    return refusal;
  if (auto refusal = queueOf(load, state.running, queue, decode))
    return refusal;
  ServiceTimes times;
  times.first = queue.toFirstToken(running > 1 ? 1 : 0);
  times.first.scaleTo(state.ttftUs);
  spread(load, queue, 0, times, state);
  times.fill(load.limits, state);
  return {};
}
