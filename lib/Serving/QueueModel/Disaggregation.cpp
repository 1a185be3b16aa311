//===- Disaggregation.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/Disaggregation.h"

#include "ServiceTimes.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace autopar;
using namespace autopar::serving;

namespace {

class Pools {
public:
  Pools(QueueModel &prefill, QueueModel &decode, const Disaggregation &pools,
        const ServedLoad &load, DisaggregatedState &served)
      : prefill(prefill), decode(decode), pools(pools), load(load),
        served(served) {}
  ServingRefusal serve();
  ServingRefusal serveOpen();

private:
  double waitForLinkUs(double ratePerS) const;
  double handedOnPerS(double ratePerS) const;
  ServedLoad prefillLoad(double ratePerS) const;
  ServingRefusal prefillAt(double ratePerS);
  void findParts(double ratePerS);
  ServingRefusal prefillOfClosed();
  /// Finds the state in which `running` sequences decode on each replica.
  ServingRefusal at(double running);
  double decodingReplicas() const {
    return static_cast<double>(pools.decodeWorkers) * decode.replicaCount();
  }

  QueueModel &prefill, &decode;
  const Disaggregation &pools;
  const ServedLoad &load;
  DisaggregatedState &served;
  /// The state, times and request rate of the prefill pool.
  SteadyState prefillState;
  ServiceTimes prefillTimes;
  double ratePerUs = 0;
  /// The number of requests in the whole deployment.
  double population = 0;
};

} // namespace

/// Returns the load of the prefill pool, which answers each prompt with one
/// token.
ServedLoad Pools::prefillLoad(double ratePerS) const {
  ServedLoad prompts = load;
  prompts.concurrency = 0;
  prompts.answerTokens = 1;
  prompts.answerVariation = 0;
  prompts.drafts = 0;
  prompts.tokensPerStep = 1;
  prompts.ratePerS = ratePerS / static_cast<double>(pools.prefillWorkers);
  return prompts;
}

/// Finds the state of the prefill pool for Poisson arrivals of `ratePerS`
/// requests per second.
ServingRefusal Pools::prefillAt(double ratePerS) {
  ServedLoad prompts = prefillLoad(ratePerS);
  prefillState = {};
  prefillTimes = {};
  if (auto refusal = prefill.roomOf(prompts, prefillState))
    return refusal;
  if (auto refusal = prefill.timesOfOpen(prompts, prefillState, prefillTimes))
    return refusal;
  served.prefillMostPerS =
      prefillState.mostPerS * static_cast<double>(pools.prefillWorkers);
  return {};
}

/// Finds the parts of the time to the first token, once the states of both
/// pools are known.
void Pools::findParts(double ratePerS) {
  FirstTokenParts &parts = served.state.firstToken;
  parts = prefillState.firstToken;
  parts.moveUs = pools.transferUs + waitForLinkUs(ratePerS);
  parts.sendUs =
      decode.requestHost().sendingUs(load.answerTokens, served.state.tpotUs);
}

/// Finds the state of the prefill pool in a closed loop: it sees the arrivals
/// of all requests but the one in question (arrival theorem).
ServingRefusal Pools::prefillOfClosed() {
  double others = 1 - 1 / static_cast<double>(load.concurrency);
  if (auto refusal = prefillAt(ratePerUs * 1e6 * others))
    return refusal;
  findParts(ratePerUs * 1e6);
  return {};
}

ServingRefusal Pools::at(double running) {
  if (auto refusal = decode.stepAt(load, running, served.state))
    return refusal;
  served.state.tpotUs = served.state.decodeStepUs / load.tokensPerStep;
  double steps = std::max(1.0, load.decodedTokens() / load.tokensPerStep);
  ratePerUs =
      decodingReplicas() * running / (steps * served.state.decodeStepUs);
  double inPrefill = std::numeric_limits<double>::infinity();
  if (ratePerUs * 1e6 < served.prefillMostPerS) {
    if (auto refusal = prefillOfClosed())
      return refusal;
    const FirstTokenParts &parts = served.state.firstToken;
    if (!prefillState.isOverloaded)
      inPrefill = ratePerUs * (parts.sum() - parts.sendUs);
  }
  population = decodingReplicas() * running + inPrefill;
  return {};
}

ServingRefusal Pools::serve() {
  constexpr int halvings = 40;
  SteadyState &state = served.state;
  if (auto refusal = prefillAt(0))
    return refusal;
  if (auto refusal = decode.roomOf(load, state))
    return refusal;
  double most = state.running;
  if (auto refusal = at(most))
    return refusal;
  served.decodeMostPerS = ratePerUs * 1e6;
  state.mostPerS = std::min(served.prefillMostPerS, served.decodeMostPerS);
  auto concurrency = static_cast<double>(load.concurrency);
  // More sequences mean a higher rate and more prompts that wait, so that
  // bisection finds the number of sequences.
  double low = 0, high = most;
  for (int i = 0; i < halvings && high - low > 1e-4 * high; ++i) {
    double middle = (low + high) / 2;
    if (auto refusal = at(middle))
      return refusal;
    (population > concurrency ? high : low) = middle;
  }
  state.running = low;
  if (auto refusal = at(low))
    return refusal;
  // If a pool is full, all requests that do not decode wait for it.
  FirstTokenParts &parts = state.firstToken;
  double inPrefillUs = (concurrency - decodingReplicas() * low) / ratePerUs;
  if (ratePerUs * 1e6 > (1 - 1e-3) * state.mostPerS)
    parts.queueUs += std::max(0.0, inPrefillUs - (parts.sum() - parts.sendUs));
  state.ttftUs = parts.sum();
  served.prefilling = ratePerUs * (state.ttftUs - parts.sendUs);
  state.isCacheFull = low >= most * (1 - 1e-3);
  state.outputTokensPerSecond = 1e6 * ratePerUs * load.answerTokens;
  bool isLate = load.limits.ttftUs && state.ttftUs > *load.limits.ttftUs;
  bool isSlow = load.limits.tpotUs && state.tpotUs > *load.limits.tpotUs;
  state.shareWithinLimits = isLate || isSlow ? 0 : 1;
  return {};
}

/// Returns the mean wait for the link in us, as in an M/D/1 queue.
double Pools::waitForLinkUs(double ratePerS) const {
  if (pools.linksPerS <= 0)
    return 0;
  double used = ratePerS / pools.linksPerS;
  return used < 1 ? used / (1 - used) / 2 * pools.transferUs : 0;
}

/// Returns the rate, per second, at which the prefill pool and the links hand
/// requests on.
double Pools::handedOnPerS(double ratePerS) const {
  double readPerS = std::min(ratePerS, served.prefillMostPerS);
  return pools.linksPerS > 0 ? std::min(readPerS, pools.linksPerS) : readPerS;
}

/// Serves an open loop. The decode pool gets prefilled prompts: the first token
/// is made in the prefill pool, and a request may still have to wait for room
/// in the decode pool.
ServingRefusal Pools::serveOpen() {
  SteadyState &state = served.state;
  ServedLoad writing = load;
  writing.arePrefilled = true;
  if (auto refusal = prefillAt(load.ratePerS))
    return refusal;
  writing.ratePerS =
      handedOnPerS(load.ratePerS) / static_cast<double>(pools.decodeWorkers);
  ServiceTimes times;
  if (auto refusal = decode.roomOf(writing, state))
    return refusal;
  if (auto refusal = decode.timesOfOpen(writing, state, times))
    return refusal;
  served.decodeMostPerS =
      state.mostPerS * static_cast<double>(pools.decodeWorkers);
  state.mostPerS = handedOnPerS(served.decodeMostPerS);
  state.isOverloaded = load.ratePerS >= state.mostPerS;
  // The decode pool prefills nothing.
  state.prefilling = 0;
  state.promptStepUs = prefillState.promptStepUs;
  state.addedByPromptUs = 0;
  state.promptsPerStep = prefillState.promptsPerStep;
  double servedPerS = std::min(load.ratePerS, state.mostPerS);
  state.outputTokensPerSecond = servedPerS * load.answerTokens;
  if (state.isOverloaded) {
    state.ttftUs = std::numeric_limits<double>::infinity();
    served.prefilling = state.ttftUs;
    state.shareWithinLimits = load.limits.any() ? 0 : 1;
    return {};
  }
  findParts(load.ratePerS);
  FirstTokenParts &parts = state.firstToken;
  times.first = prefillTimes.first;
  times.first.add({parts.moveUs + parts.sendUs});
  served.prefilling = load.ratePerS / 1e6 * (parts.sum() - parts.sendUs);
  parts.queueUs += times.waiting.meanUs;
  state.ttftUs = parts.sum();
  TimeMoments first = times.first.moments();
  // The caches of a request arrive, in the mean, half a step before the next
  // step.
  double decodeUs = load.decodedTokens() * state.tpotUs;
  times.request.mean =
      state.ttftUs - parts.sendUs + state.decodeStepUs / 2 + decodeUs;
  times.request.variance =
      first.variance + decodeUs * decodeUs * load.answerVariation +
      load.answerTokens * load.answerTokens * times.token.variance;
  if (load.hasSpread)
    times.fill(load.limits, state);
  return {};
}

ServingRefusal autopar::serving::serveDisaggregated(
    QueueModel &prefill, QueueModel &decode, const Disaggregation &pools,
    const ServedLoad &load, DisaggregatedState &served) {
  Pools both(prefill, decode, pools, load, served);
  return load.concurrency == 0 ? both.serveOpen() : both.serve();
}
