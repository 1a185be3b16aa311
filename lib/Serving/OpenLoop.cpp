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

/// How much longer a request takes for each more that decodes, as far as it
/// ends at all.
static constexpr double mostGrowth = 0.95;

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

/// The steps that a request meets beside so many others, where tokens take
/// about so long.
ServingRefusal Server::queueAmong(const ServedLoad &load, double most,
                                  double others, double tokenUs,
                                  PromptQueue &queue, StepTime &decode) {
  double together = prices.togetherCount();
  double running = std::min(most / together, ofLargest(1 + others, together));
  return queueOf(load, running, tokenUs, queue, decode);
}

/// How many others a request meets of those that come while it decodes.
static double othersOf(const ServedLoad &load, const PromptQueue &queue,
                       double tokenUs) {
  double wholeUs = tokenUs * decodedSteps(load);
  return queue.ratePerUs * wholeUs * queue.shareMet(wholeUs);
}

/// The prompts that it meets, of those of the queue.
static PromptQueue metBy(const ServedLoad &load, const PromptQueue &queue,
                         double tokenUs) {
  PromptQueue met = queue;
  met.ratePerUs *= queue.shareMet(decodedSteps(load) * tokenUs);
  return met;
}

/// From a token to the next among so many others: `us`, which is about that.
ServingRefusal Server::tokenAmong(const ServedLoad &load, double most,
                                  double others, PromptQueue &queue,
                                  StepTime &decode, double &us) {
  if (auto refusal = queueAmong(load, most, others, us, queue, decode))
    return refusal;
  us = metBy(load, queue, us).tokenUs(us);
  return {};
}

/// From a token to the next where as many others decode as come meanwhile,
/// beside those that began with a request: `us`, which is about that.
ServingRefusal Server::findToken(const ServedLoad &load, double most,
                                 const Bend &bend, PromptQueue &queue,
                                 StepTime &decode, double &us) {
  auto excessAt = [&](double tokenUs, double &excess) {
    double others = othersOf(load, queue, tokenUs) + bend.companions;
    double unbentUs = tokenUs / bend.share;
    auto refusal = queueAmong(load, most, others, unbentUs, queue, decode);
    PromptQueue met = metBy(load, queue, unbentUs);
    excess = met.tokenUsAfter(unbentUs) * bend.share - tokenUs;
    return refusal;
  };
  double mostUs = most / (queue.ratePerUs * decodedSteps(load));
  auto refusal = findZero(us, 1 - bend.growth, 0, mostUs, excessAt, us);
  queue.settle(queue.stepUsOf(us / bend.share));
  return refusal;
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
                                double tokenUs, PromptQueue &queue,
                                StepTime &decode, Bend &bend) {
  // Steps are straight over what so many vary by, and a parabola over what so
  // many more are.
  constexpr double little = 3e-3, near = 0.05;
  double others = othersOf(load, queue, tokenUs), at = tokenUs / bend.share;
  // Whoever is there meets those that began with it beside the mean of others.
  double before = bend.companions;
  bend.companions = sharedTime(load) * (queue.dispersion() - 1);
  double variance = others * (1 + bend.companions) / (1 - bend.growth);
  if (variance < little * others * others)
    return {};
  others += bend.companions;
  double few = std::max(0.0, others - std::sqrt(variance));
  double below = others - few, above = variance / below;
  if (below <= 0)
    return {};
  double more = bend.companions - before;
  bool isNear = more * more < near * variance;
  if (!isNear)
    if (auto refusal = tokenAmong(load, most, others, queue, decode, at))
      return refusal;
  double fewUs = at, manyUs = at;
  if (auto refusal = tokenAmong(load, most, few, queue, decode, fewUs))
    return refusal;
  if (auto refusal =
          tokenAmong(load, most, others + above, queue, decode, manyUs))
    return refusal;
  double slope = (manyUs - fewUs) / (above + below);
  if (isNear)
    at += slope * more;
  bend.share = (fewUs * above + manyUs * below) / ((above + below) * at);
  bend.growth =
      std::clamp(queue.ratePerUs * decodedSteps(load) * slope, 0.0, mostGrowth);
  return {};
}

/// Of Poisson's law, a request meets one more than there are in the mean. All
/// counts are of replicas that step together; `us` is from token to token,
/// about that before.
ServingRefusal Server::findRunning(const ServedLoad &load, double most,
                                   PromptQueue &queue, StepTime &decode,
                                   double &us) {
  constexpr int rounds = 2;
  constexpr double near = 0.01;
  Bend bend;
  if (auto refusal = findToken(load, most, bend, queue, decode, us))
    return refusal;
  double before = 0;
  for (int i = 0; i < rounds && std::abs(us - before) > near * us; ++i) {
    before = us;
    if (auto refusal = bendOver(load, most, us, queue, decode, bend))
      return refusal;
    if (auto refusal = findToken(load, most, bend, queue, decode, us))
      return refusal;
  }
  // No more than have room (Little's law).
  us = std::min(us,
                most / std::max(1e-300, queue.ratePerUs * decodedSteps(load)));
  return {};
}

/// Steps of `full` are those of the most that decode.
ServingRefusal Server::findLine(const ServedLoad &load, const FullSteps &full,
                                DecodeLine &line) {
  StepLoad step;
  step.decoding = 1;
  step.context = load.contextTokens();
  addDrafts(load, step);
  StepTime one;
  if (auto refusal = priceRunning(step, one))
    return refusal;
  double more = full.running * prices.togetherCount() - 1;
  line.oneUs = one.us;
  line.growthUs = (full.queue.decodeUs - one.us) / std::max(1.0, more);
  return {};
}

/// About, from a token to the next where steps are on a line, all prompts go
/// where requests ended, and as many others decode as come meanwhile, up to
/// `most`.
static double tokenOnLine(const ServedLoad &load, const PromptQueue &full,
                          const DecodeLine &line, double most) {
  double come = full.ratePerUs * decodedSteps(load), us = 0;
  auto excessAt = [&](double tokenUs, double &excess) {
    excess = line.at(1 + come * tokenUs) +
             full.readUs(full.ratePerUs * tokenUs) - tokenUs;
    return ServingRefusal();
  };
  findZero(line.oneUs, 1, 0, most / come, excessAt, us, /*near=*/0.05);
  return us;
}

/// Requests are served together, up to `most`, and take the longer the more of
/// them there are: `steps` are those where most is served.
static Waiting waitForRoom(const ServedLoad &load, double most, double firstUs,
                           const FullSteps &steps, const DecodeLine &line) {
  const PromptQueue &full = steps.queue;
  Waiting waiting;
  if (decodedSteps(load) == 0)
    return waiting;
  double promptUs = full.promptUs();
  auto occupancy = [&](double count) {
    double decodeUs = decodedSteps(load) * line.at(count);
    return full.ratePerUs * ((firstUs + decodeUs) / count + promptUs);
  };
  double near = std::min(0.999, full.ratePerUs / steps.mostPerUs);
  waiting.share = shareThatWaits(most, occupancy, near);
  // Answers of one length end as they began: half as late (Lee and Longton
  // 1959, DOI 10.1057/jors.1959.5).
  waiting.meanUs = waiting.share / steps.mostPerUs *
                   (1 + load.answerVariation) / (2 * (1 - near));
  return waiting;
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
  best.queue.settle(best.queue.stepUsOf(best.stepUs));
  double places = state.running, most = best.running;
  double mostPerUs = best.mostPerUs, fullUs = best.stepUs;
  const PromptQueue &full = best.queue;
  PromptQueue queue;
  StepTime decode;
  DecodeLine line;
  queue.law = full.law;
  queue.ratePerUs = full.ratePerUs;
  state.mostPerS = mostPerUs * 1e6 * groups;
  state.isOverloaded = queue.ratePerUs >= mostPerUs;
  double servedPerUs = std::min(queue.ratePerUs, mostPerUs);
  state.outputTokensPerSecond = 1e6 * servedPerUs * groups * load.answerTokens;
  if (state.isOverloaded) {
    if (auto refusal = queueOf(load, most, fullUs, queue, decode))
      return refusal;
    queue.settle(queue.stepUsOf(fullUs));
    state.running = most;
    state.tpotUs = fullUs / load.tokensPerStep;
    state.ttftUs = std::numeric_limits<double>::infinity();
    state.shareWithinLimits = load.limits.any() ? 0 : 1;
  } else {
    if (auto refusal = findLine(load, best, line))
      return refusal;
    double us = tokenOnLine(load, full, line, most * together);
    if (auto refusal = findRunning(load, most * together, queue, decode, us))
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
  times.waiting =
      waitForRoom(load, places * together, times.first.mean(), best, line);
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
  double tokenUs = state.tpotUs * load.tokensPerStep;
  if (auto refusal = queueOf(load, state.running, tokenUs, queue, decode))
    return refusal;
  queue.settle(queue.stepUsOf(tokenUs));
  ServiceTimes times;
  times.first = queue.toFirstToken(running > 1 ? 1 : 0);
  times.first.scaleTo(state.ttftUs);
  spread(load, queue, 0, times, state);
  times.fill(load.limits, state);
  return {};
}
