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
using namespace autopar::serving;

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
  double come = full.ratePerUs * decodedSteps(load), us = 0, fall = 1;
  auto excessAt = [&](double tokenUs, double &excess) {
    excess = line.at(1 + come * tokenUs) +
             full.readUs(full.ratePerUs * tokenUs) - tokenUs;
    return ServingRefusal();
  };
  findZero(line.oneUs, fall, 0, most / come, excessAt, us, /*near=*/0.05);
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
  times.request.mean = first.mean + times.waiting.meanUs -
                       state.firstToken.sendUs +
                       load.decodedTokens() * state.tpotUs;
  double decodeUs = tokens * state.tpotUs;
  times.request.variance = first.variance +
                           decodeUs * decodeUs * load.answerVariation +
                           tokens * tokens * times.token.variance;
}

/// Where more comes than is served.
ServingRefusal Server::serveMost(const ServedLoad &load, const FullSteps &full,
                                 PromptQueue &queue, StepTime &decode,
                                 SteadyState &state) {
  state.running = full.running;
  state.tpotUs = full.stepUs / load.tokensPerStep;
  state.ttftUs = std::numeric_limits<double>::infinity();
  state.shareWithinLimits = load.limits.any() ? 0 : 1;
  auto refusal = queueOf(load, full.running, full.stepUs, queue, decode);
  queue.settle(queue.stepUsOf(full.stepUs));
  return refusal;
}

/// That requests decode in.
static StepCounts stepCounts(const ServedLoad &load) {
  StepCounts steps;
  steps.fill(decodingSteps(load));
  if (load.answerVariation > 0)
    for (size_t i = 0; i < steps.size(); ++i)
      steps[i] = std::max(1.0, (load.answersAt[i] - 1) / load.tokensPerStep);
  return steps;
}

/// Where all that comes is served: times from token to token.
ServingRefusal Server::serveAll(const ServedLoad &load, const FullSteps &full,
                                DecodeLine &line, PromptQueue &queue,
                                StepTime &decode, SteadyState &state) {
  if (auto refusal = findLine(load, full, line))
    return refusal;
  double together = prices.togetherCount(), most = full.running * together;
  double us = tokenOnLine(load, full.queue, line, most);
  if (auto refusal = findRunning(load, most, queue, decode, us))
    return refusal;
  double tokenUs = us + queue.afterOwnUs(stepCounts(load));
  // Beside prompts, none takes longer than a full step.
  if (queue.fusesPrompts)
    tokenUs = std::min(tokenUs, std::max(us, queue.mostUs()));
  state.tpotUs = tokenUs / load.tokensPerStep;
  // Little's law.
  double wanted = queue.ratePerUs * load.decodedTokens() * state.tpotUs;
  state.running = std::min(most, wanted) / together;
  state.fillsRoom = wanted >= most * (1 - 1e-6);
  if (wanted > most)
    state.tpotUs *= most / wanted;
  return {};
}

/// Times of requests that find `places` to run in.
void Server::timeRequests(const ServedLoad &load, const FullSteps &full,
                          const DecodeLine &line, double places,
                          const PromptQueue &queue, SteadyState &state,
                          ServiceTimes &times) {
  double together = prices.togetherCount();
  double streams = state.running * together, busy = -std::expm1(-streams);
  times.first = queue.toFirstToken(busy);
  state.firstToken = queue.partsOf(times.first, busy);
  // Little's law.
  state.reading = queue.ratePerUs * times.first.mean() / together;
  times.first.add(outside(load, streams, busy, state));
  times.waiting =
      waitForRoom(load, places * together, times.first.mean(), full, line);
  state.waiting = queue.ratePerUs * times.waiting.meanUs / together;
  state.firstToken.queueUs += times.waiting.meanUs;
  state.ttftUs = state.firstToken.sum();
  double growthUs = (full.queue.decodeUs - queue.decodeUs) /
                    std::max(1.0, full.running - state.running);
  spread(load, queue, growthUs, times, state);
}

/// Where `state.running` says how many have room.
ServingRefusal Server::serveOpen(const ServedLoad &load, SteadyState &state,
                                 ServiceTimes &times) {
  double groups = prices.groupCount(), places = state.running;
  FullSteps full;
  if (auto refusal = findLaw(load, full.queue.law))
    return refusal;
  if (auto refusal = findFull(load, state, full))
    return refusal;
  full.queue.settle(full.queue.stepUsOf(full.stepUs));
  PromptQueue queue;
  queue.law = full.queue.law;
  queue.ratePerUs = full.queue.ratePerUs;
  queue.turns = groups;
  queue.used = std::min(1.0, queue.ratePerUs / full.mostPerUs);
  state.mostPerS = full.mostPerUs * 1e6 * groups;
  state.isOverloaded = queue.ratePerUs >= full.mostPerUs;
  double servedPerUs = std::min(queue.ratePerUs, full.mostPerUs);
  state.outputTokensPerSecond = 1e6 * servedPerUs * groups * load.answerTokens;
  StepTime decode;
  DecodeLine line;
  if (auto refusal = state.isOverloaded
                         ? serveMost(load, full, queue, decode, state)
                         : serveAll(load, full, line, queue, decode, state))
    return refusal;
  setDecodeStep(state, decode);
  state.promptStepUs = queue.firstUs;
  state.addedByPromptUs = queue.promptUs();
  state.promptsPerStep =
      std::max(1.0, servedPerUs * state.tpotUs * load.tokensPerStep);
  if (!state.isOverloaded)
    timeRequests(load, full, line, places, queue, state, times);
  return {};
}
