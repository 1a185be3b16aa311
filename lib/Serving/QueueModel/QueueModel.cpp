//===- QueueModel.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/QueueModel.h"

#include "ClosedLoop.h"
#include "OpenLoop.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::serving;

ServedLoad ServedLoad::of(const Requests &requests) {
  ServedLoad load;
  load.concurrency = requests.concurrency;
  load.ratePerS = requests.ratePerS;
  load.promptTokens = requests.prompt.mean();
  load.promptVariation = requests.prompt.squaredVariation();
  for (size_t i = 0; i < gaussPoints.size(); ++i)
    load.promptsAt[i] = requests.prompt.atDeviations(gaussPoints[i]);
  load.answerTokens = requests.answer.mean();
  load.answerVariation = requests.answer.squaredVariation();
  load.cachedShare = requests.cachedShare;
  load.limits = requests.limits;
  load.drafts = static_cast<double>(requests.acceptance.size());
  load.draftCost = requests.draftCost.value_or(0);
  // A draft token counts if all draft tokens before it were accepted
  // (Leviathan, Kalman and Matias 2023, arXiv 2211.17192, equation 1, by
  // position).
  double all = 1;
  for (double share : requests.acceptance)
    load.tokensPerStep += all *= share;
  load.hasSpread = true;
  return load;
}

double ServedLoad::uncachedTokens() const {
  double whole = std::round(promptTokens);
  return std::max(1.0, std::round(whole * (1 - cachedShare)));
}

/// Long answers have more tokens than short ones, and these tokens see longer
/// contexts.
double ServedLoad::contextTokens() const {
  return std::round(promptTokens + answerTokens / 2 * (1 + answerVariation));
}

QueueModel::QueueModel(CompiledProgram &program, const Machine &machine,
                       const Runtime &runtime,
                       std::optional<double> memoryUtilization)
    : runtime(runtime), host(RequestHost::of(runtime)),
      prices(program, machine, runtime, memoryUtilization) {}

void QueueModel::lay(const Layout &layout, int64_t count) {
  prices.lay(layout, count);
}

//===----------------------------------------------------------------------===//
// Results without a queue
//===----------------------------------------------------------------------===//

ServingRefusal QueueModel::timeEncoder(const ServedLoad &load, double &us) {
  StepTime step;
  double tokens = std::round(load.promptTokens);
  Refusal refusal = prices.price({0, 1, 1, tokens, tokens}, step);
  us = step.encoderUs;
  return refusal;
}

/// Runs a batch: it prefills whole prompts, as many in a step as the token
/// budget holds, and then takes a step for each further token.
ServingRefusal QueueModel::runBatch(const ServedLoad &batch,
                                    double &tokensPerSecond) {
  if (prices.refusal())
    return prices.refusal();
  double sequences =
      static_cast<double>(batch.concurrency) / prices.replicaCount();
  double context = std::round(batch.promptTokens + batch.answerTokens / 2);
  double atOnce =
      std::clamp(std::floor(runtime.tokenBudget.value / batch.promptTokens),
                 1.0, std::max(1.0, sequences));
  StepTime decode, prefill;
  if (Refusal refusal = prices.price({sequences, context}, decode))
    return refusal;
  StepLoad prompts = prefillOf(batch, atOnce * prices.lockStepReplicas());
  if (Refusal refusal = prices.price(prompts, prefill))
    return refusal;
  if (decode.capacityTokens < sequences * batch.requestTokens())
    return ServingRefusal::Kind::capacity;
  double us = std::ceil(sequences / atOnce) * prefill.us +
              batch.decodedTokens() * decode.us;
  tokensPerSecond =
      1e6 * static_cast<double>(batch.concurrency) * batch.answerTokens / us;
  return {};
}

ServingRefusal QueueModel::count(const ServedLoad &load, ServingFlops &flops) {
  if (prices.refusal())
    return prices.refusal();
  StepTime decode, prefill;
  if (Refusal refusal = prices.price({1, load.contextTokens()}, decode))
    return refusal;
  if (Refusal refusal = prices.price(prefillOf(load, 1), prefill))
    return refusal;
  flops = {decode.flops / prices.replicaCount(),
           prefill.flops / prices.groupCount(),
           static_cast<int64_t>(decode.capacityTokens)};
  return {};
}

ServingRefusal QueueModel::stepAt(const ServedLoad &load, double running,
                                  SteadyState &state) {
  StepTime time;
  StepLoad step = decodeOf(load, std::max(1.0, running));
  if (Refusal refusal = prices.priceServed(step, time))
    return refusal;
  state.setDecodeStep(time.us, time.communicationUs, time.hostUs);
  return {};
}

/// Finds the pace of prompts in steps of whole prompts, as many as the token
/// budget holds; a longer prompt takes several steps.
ServingRefusal QueueModel::paceOf(const ServedLoad &load, PromptPace &pace) {
  if (prices.refusal())
    return prices.refusal();
  double uncached = load.uncachedTokens();
  double room = std::max(1.0, runtime.tokenBudget.value);
  double chunks = runtime.cutsPrompts ? std::max(1.0, uncached / room) : 1;
  StepLoad step;
  setChunk(load, std::max(1.0, std::floor(uncached / chunks)), step);
  StepTime one, full;
  if (Refusal refusal = prices.priceServed(step, one))
    return refusal;
  step.prompts =
      std::max(1.0, std::floor(room / uncached)) * prices.lockStepReplicas();
  if (Refusal refusal = prices.priceServed(step, full))
    return refusal;
  pace.oneUs = one.us * chunks;
  pace.mostPerS = 1e6 * step.prompts * prices.groupCount() / (full.us * chunks);
  return {};
}

/// Finds how many requests have room. A request counts with the KV blocks that
/// the engine reserves when it begins, or else with those that it has in the
/// mean.
ServingRefusal QueueModel::roomOf(const ServedLoad &load, SteadyState &state) {
  if (prices.refusal())
    return prices.refusal();
  StepTime one;
  if (Refusal refusal = prices.price({1, load.contextTokens()}, one))
    return refusal;
  state.capacityTokens = one.capacityTokens;
  double block = std::max(1.0, runtime.kvBlockTokens.value);
  double held =
      runtime.reservesAnswers ? load.requestTokens() : load.contextTokens();
  held = std::ceil(held / block) * block;
  // If answers vary much, the requests that run are longer than the mean
  // request.
  if (one.capacityTokens < std::max(held, load.requestTokens()))
    return ServingRefusal::Kind::capacity;
  double room = std::floor(one.capacityTokens / held);
  state.isCacheFull = room < runtime.maxSequences.value;
  state.running = std::min(room, runtime.maxSequences.value);
  return {};
}

//===----------------------------------------------------------------------===//
// Results with a queue
//===----------------------------------------------------------------------===//

ServingRefusal QueueModel::timesOfOpen(const ServedLoad &load,
                                       SteadyState &state,
                                       ServiceTimes &times) {
  return OpenLoop(prices, runtime, host, load, state, times).run();
}

ServingRefusal QueueModel::timesOf(const ServedLoad &load, SteadyState &state) {
  if (auto refusal = roomOf(load, state))
    return refusal;
  if (load.concurrency == 0) {
    ServiceTimes times;
    auto refusal = timesOfOpen(load, state, times);
    if (!refusal && !state.isOverloaded && load.hasSpread)
      times.fill(load.limits, state);
    return refusal;
  }
  double wanted = static_cast<double>(load.concurrency) / prices.replicaCount();
  state.isCacheFull = state.isCacheFull && state.running < wanted;
  state.running = std::min(state.running, wanted);
  state.waiting = wanted - state.running;
  return ClosedLoop(prices, runtime, host, load, state).run();
}

ServingRefusal QueueModel::findCurve(const LoadPoint &asked, LoadCurve &curve) {
  SteadyState room;
  if (auto refusal = roomOf(asked.load, room))
    return refusal;
  LoadedService service;
  service.serve = [this](const ServedLoad &load, SteadyState &state) {
    return timesOf(load, state);
  };
  service.leastAtOnce = replicaCount();
  service.mostAtOnce = room.running * replicaCount();
  return findLoadCurve(service, asked, curve);
}
