//===- SteadyState.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/Server.h"

#include "ServiceTimes.h"

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
  for (size_t i = 0; i < gaussPoints.size(); ++i) {
    load.promptsAt[i] = requests.prompt.atDeviations(gaussPoints[i]);
    load.answersAt[i] = requests.answer.atDeviations(gaussPoints[i]);
  }
  load.answerTokens = requests.answer.mean();
  load.answerVariation = requests.answer.squaredVariation();
  load.cachedShare = requests.cachedShare;
  load.limits = requests.limits;
  load.drafts = static_cast<double>(requests.acceptance.size());
  load.draftCost = requests.draftCost.value_or(0);
  // A draft counts where all before it were accepted (Leviathan, Kalman and
  // Matias 2023, arXiv 2211.17192, equation 1, by position).
  double all = 1;
  for (double share : requests.acceptance)
    load.tokensPerStep += all *= share;
  load.hasSpread = true;
  return load;
}

double ServedLoad::readTokens() const {
  double whole = std::round(promptTokens);
  return std::max(1.0, std::round(whole * (1 - cachedShare)));
}

/// Long answers have more of the tokens.
double ServedLoad::contextTokens() const {
  return std::round(promptTokens + answerTokens / 2 * (1 + answerVariation));
}

Server::Server(CompiledProgram &program, const Machine &machine,
               const Runtime &runtime, std::optional<double> memoryUtilization)
    : runtime(runtime), host(RequestHost::of(runtime)),
      prices(program, machine, runtime, memoryUtilization) {}

void Server::lay(const Layout &layout, int64_t count) {
  prices.lay(layout, count);
}

static ServingRefusal ofStep(const Refusal &refusal) {
  if (refusal)
    return {ServingRefusal::Kind::step, refusal};
  return {};
}

ServingRefusal Server::price(const StepLoad &load, StepTime &step) {
  return ofStep(prices.price(load, step));
}

ServingRefusal Server::priceServed(const StepLoad &load, StepTime &step) {
  return ofStep(prices.priceServed(load, step));
}

ServingRefusal Server::timeEncoder(const ServedLoad &load, double &us) {
  StepTime step;
  double tokens = std::round(load.promptTokens);
  auto refusal = price({0, 1, 1, tokens, tokens}, step);
  us = step.encoderUs;
  return refusal;
}

/// Prompts in steps of whole ones, as many as the budget holds; then a step for
/// each token of the answers but the first.
ServingRefusal Server::runBatch(const ServedLoad &batch,
                                double &tokensPerSecond) {
  if (auto refusal = ofStep(prices.refusal()))
    return refusal;
  double sequences =
      static_cast<double>(batch.concurrency) / prices.replicaCount();
  double context = std::round(batch.promptTokens + batch.answerTokens / 2);
  double together =
      std::clamp(std::floor(runtime.tokenBudget.value / batch.promptTokens),
                 1.0, std::max(1.0, sequences));
  StepTime decode, fill;
  if (auto refusal = price({sequences, context}, decode))
    return refusal;
  if (auto refusal =
          price(readingOf(batch, together * prices.togetherCount()), fill))
    return refusal;
  if (decode.capacityTokens < sequences * batch.requestTokens())
    return {ServingRefusal::Kind::capacity};
  double us = std::ceil(sequences / together) * fill.us +
              batch.decodedTokens() * decode.us;
  tokensPerSecond =
      1e6 * static_cast<double>(batch.concurrency) * batch.answerTokens / us;
  return {};
}

ServingRefusal Server::count(const ServedLoad &load, ServingFlops &flops) {
  if (auto refusal = ofStep(prices.refusal()))
    return refusal;
  StepTime decode, fill;
  if (auto refusal = price({1, load.contextTokens()}, decode))
    return refusal;
  if (auto refusal = price(readingOf(load, 1), fill))
    return refusal;
  flops = {decode.flops / prices.replicaCount(),
           fill.flops / prices.groupCount(),
           static_cast<int64_t>(decode.capacityTokens)};
  return {};
}

/// What the budget holds, in whole prompts where it holds any.
double Server::mostPerStep(const ServedLoad &load) const {
  double each = runtime.tokenBudget.value / load.readTokens();
  return (each >= 1 ? std::floor(each) : each) * prices.togetherCount();
}

/// Requests end at random steps, one in `answerTokens` of those that run, and
/// others come in their place: of Poisson's law, how many come where any does,
/// to replicas that step together. No more than a step reads, but one.
double Server::promptsPerStep(const ServedLoad &load, double running) const {
  double together = prices.togetherCount();
  double ends = running * together * load.tokensPerStep / load.answerTokens;
  double come = ends / -std::expm1(-ends);
  return std::max(1.0, std::min({come, mostPerStep(load), running * together}));
}

ServingRefusal Server::priceBetween(const StepLoad &load,
                                    double StepLoad::*count, StepTime &step) {
  return ofStep(prices.priceBetween(load, count, step));
}

/// Until the prompts of `running` requests that come at once are read, in the
/// mean: steps read as many as they may, and decode those that were read
/// before, which makes them longer on a line, the first p and the last q. With
/// J steps of whole prompts, a share x of the requests is done after T(x) = J *
/// (p * x + (q - p) * x^2 / 2), in M groups that end together.
ServingRefusal Server::burst(const ServedLoad &load, double running,
                             double &us) {
  double prompt = std::round(load.promptTokens);
  double each = runtime.tokenBudget.value / load.readTokens();
  if (!runtime.cutsPrompts)
    each = std::max(1.0, std::floor(each));
  each = std::min(each, running);
  double whole = std::max(1.0, std::floor(each));
  StepLoad step = readingOf(load, whole * prices.togetherCount());
  StepTime first, last;
  if (auto refusal = priceServed(step, first))
    return refusal;
  last = first;
  if (runtime.fusesPrompts && running > whole) {
    step.decoding = running - whole;
    step.context = prompt;
    if (auto refusal = priceServed(step, last))
      return refusal;
  }
  double steps = running / whole;
  double groups = each < 1 ? running : std::ceil(running / each);
  double mean = (groups + 1) / (2 * groups);
  double ofSquares = mean * (2 * groups + 1) / (3 * groups);
  us = steps * (first.us * mean + (last.us - first.us) * ofSquares / 2);
  return {};
}

ServingRefusal Server::roomOf(const ServedLoad &load, SteadyState &state) {
  if (auto refusal = ofStep(prices.refusal()))
    return refusal;
  StepTime one;
  if (auto refusal = price({1, load.contextTokens()}, one))
    return refusal;
  state.capacityTokens = one.capacityTokens;
  if (one.capacityTokens < load.requestTokens())
    return {ServingRefusal::Kind::capacity};
  // What is kept from the start, or what requests have in the mean, in blocks.
  double block = std::max(1.0, runtime.kvBlockTokens.value);
  double held =
      runtime.reservesAnswers ? load.requestTokens() : load.contextTokens();
  held = std::ceil(held / block) * block;
  // Of answers that vary much, whoever runs has more than a request has.
  if (one.capacityTokens < held)
    return {ServingRefusal::Kind::capacity};
  double room = std::floor(one.capacityTokens / held);
  state.isCacheFull = room < runtime.maxSequences.value;
  state.running = std::min(room, runtime.maxSequences.value);
  return {};
}

ServingRefusal Server::serve(const ServedLoad &load, SteadyState &state) {
  if (auto refusal = roomOf(load, state))
    return refusal;
  if (load.concurrency == 0) {
    ServiceTimes times;
    auto refusal = serveOpen(load, state, times);
    if (!refusal && !state.isOverloaded && load.hasSpread)
      times.fill(load.limits, state);
    return refusal;
  }
  double wanted = static_cast<double>(load.concurrency) / prices.replicaCount();
  state.isCacheFull = state.isCacheFull && state.running < wanted;
  state.running = std::min(state.running, wanted);
  state.waiting = wanted - state.running;
  return serveClosed(load, state);
}

ServingRefusal Server::findCurve(const LoadPoint &asked, LoadCurve &curve) {
  SteadyState room;
  if (auto refusal = roomOf(asked.load, room))
    return refusal;
  LoadedService service;
  service.serve = [this](const ServedLoad &load, SteadyState &state) {
    return serve(load, state);
  };
  service.leastAtOnce = replicaCount();
  service.mostAtOnce = room.running * replicaCount();
  return findLoadCurve(service, asked, curve);
}
