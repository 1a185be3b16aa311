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
  Pools(Server &prefill, Server &decode, const Disaggregation &pools,
        const ServedLoad &load, DisaggregatedState &served)
      : prefill(prefill), decode(decode), pools(pools), load(load),
        served(served) {}
  ServingRefusal serve();
  ServingRefusal serveOpen();

private:
  double waitForLinkUs(double ratePerS) const;
  double handedOnPerS(double ratePerS) const;
  ServedLoad readingLoad(double ratePerS) const;
  ServingRefusal read(double ratePerS);
  void findParts(double ratePerS);
  ServingRefusal readOfClosed();
  /// Where so many sequences decode on each replica.
  ServingRefusal at(double running);
  double decodingReplicas() const {
    return static_cast<double>(pools.decodeWorkers) * decode.replicaCount();
  }

  Server &prefill, &decode;
  const Disaggregation &pools;
  const ServedLoad &load;
  DisaggregatedState &served;
  /// Of the pool that reads.
  SteadyState reader;
  ServiceTimes readTimes;
  double ratePerUs = 0;
  /// Requests of the whole deployment.
  double population = 0;
};

} // namespace

/// A pool that reads answers each prompt with a token.
ServedLoad Pools::readingLoad(double ratePerS) const {
  ServedLoad reading = load;
  reading.concurrency = 0;
  reading.answerTokens = 1;
  reading.answerVariation = 0;
  reading.drafts = 0;
  reading.tokensPerStep = 1;
  reading.ratePerS = ratePerS / static_cast<double>(pools.prefillWorkers);
  return reading;
}

/// So many prompts that come by Poisson's law.
ServingRefusal Pools::read(double ratePerS) {
  ServedLoad reading = readingLoad(ratePerS);
  reader = {};
  readTimes = {};
  if (auto refusal = prefill.roomOf(reading, reader))
    return refusal;
  if (auto refusal = prefill.serveOpen(reading, reader, readTimes))
    return refusal;
  served.prefillMostPerS =
      reader.mostPerS * static_cast<double>(pools.prefillWorkers);
  return {};
}

/// From the arrival of a prompt until its first token is sent, where `read` and
/// the pool that decodes are known.
void Pools::findParts(double ratePerS) {
  FirstTokenParts &parts = served.state.firstToken;
  parts = reader.firstToken;
  parts.moveUs = pools.transferUs + waitForLinkUs(ratePerS);
  parts.sendUs =
      decode.requestHost().sendingUs(load.answerTokens, served.state.tpotUs);
}

/// Nobody meets himself.
ServingRefusal Pools::readOfClosed() {
  double others = 1 - 1 / static_cast<double>(load.concurrency);
  if (auto refusal = read(ratePerUs * 1e6 * others))
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
    if (auto refusal = readOfClosed())
      return refusal;
    const FirstTokenParts &parts = served.state.firstToken;
    if (!reader.isOverloaded)
      inPrefill = ratePerUs * (parts.sum() - parts.sendUs);
  }
  population = decodingReplicas() * running + inPrefill;
  return {};
}

ServingRefusal Pools::serve() {
  constexpr int halvings = 40;
  SteadyState &state = served.state;
  if (auto refusal = read(0))
    return refusal;
  if (auto refusal = decode.roomOf(load, state))
    return refusal;
  double most = state.running;
  if (auto refusal = at(most))
    return refusal;
  served.decodeMostPerS = ratePerUs * 1e6;
  state.mostPerS = std::min(served.prefillMostPerS, served.decodeMostPerS);
  auto concurrency = static_cast<double>(load.concurrency);
  // More sequences are a higher rate, of which prompts that wait are more.
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
  // Who is not decoding waits, where one of the pools is full.
  FirstTokenParts &parts = state.firstToken;
  double inPrefillUs = (concurrency - decodingReplicas() * low) / ratePerUs;
  if (ratePerUs * 1e6 > (1 - 1e-3) * state.mostPerS)
    parts.queueUs += std::max(0.0, inPrefillUs - (parts.sum() - parts.sendUs));
  state.ttftUs = parts.sum();
  served.reading = ratePerUs * (state.ttftUs - parts.sendUs);
  state.isCacheFull = low >= most * (1 - 1e-3);
  state.outputTokensPerSecond = 1e6 * ratePerUs * load.answerTokens;
  bool isLate = load.limits.ttftUs && state.ttftUs > *load.limits.ttftUs;
  bool isSlow = load.limits.tpotUs && state.tpotUs > *load.limits.tpotUs;
  state.shareWithinLimits = isLate || isSlow ? 0 : 1;
  return {};
}

/// As for one server with times of one length: of M/D/1.
double Pools::waitForLinkUs(double ratePerS) const {
  if (pools.linksPerS <= 0)
    return 0;
  double used = ratePerS / pools.linksPerS;
  return used < 1 ? used / (1 - used) / 2 * pools.transferUs : 0;
}

/// Of so many requests, those that are read and moved.
double Pools::handedOnPerS(double ratePerS) const {
  double readPerS = std::min(ratePerS, served.prefillMostPerS);
  return pools.linksPerS > 0 ? std::min(readPerS, pools.linksPerS) : readPerS;
}

/// Links, and a pool to which prompts come read. First tokens are those of the
/// first pool; what waits for room in the second one keeps them.
ServingRefusal Pools::serveOpen() {
  SteadyState &state = served.state;
  ServedLoad writing = load;
  writing.isRead = true;
  if (auto refusal = read(load.ratePerS))
    return refusal;
  writing.ratePerS =
      handedOnPerS(load.ratePerS) / static_cast<double>(pools.decodeWorkers);
  ServiceTimes times;
  if (auto refusal = decode.roomOf(writing, state))
    return refusal;
  if (auto refusal = decode.serveOpen(writing, state, times))
    return refusal;
  served.decodeMostPerS =
      state.mostPerS * static_cast<double>(pools.decodeWorkers);
  state.mostPerS = handedOnPerS(served.decodeMostPerS);
  state.isOverloaded = load.ratePerS >= state.mostPerS;
  // Elsewhere.
  state.reading = 0;
  state.promptStepUs = reader.promptStepUs;
  state.addedByPromptUs = 0;
  state.promptsPerStep = reader.promptsPerStep;
  double servedPerS = std::min(load.ratePerS, state.mostPerS);
  state.outputTokensPerSecond = servedPerS * load.answerTokens;
  if (state.isOverloaded) {
    state.ttftUs = std::numeric_limits<double>::infinity();
    served.reading = state.ttftUs;
    state.shareWithinLimits = load.limits.any() ? 0 : 1;
    return {};
  }
  findParts(load.ratePerS);
  FirstTokenParts &parts = state.firstToken;
  times.first = readTimes.first;
  times.first.add({parts.moveUs + parts.sendUs});
  served.reading = load.ratePerS / 1e6 * (parts.sum() - parts.sendUs);
  parts.queueUs += times.waiting.meanUs;
  state.ttftUs = parts.sum();
  TimeMoments first = times.first.moments();
  // It comes in the midst of a step.
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
    Server &prefill, Server &decode, const Disaggregation &pools,
    const ServedLoad &load, DisaggregatedState &served) {
  Pools both(prefill, decode, pools, load, served);
  return load.concurrency == 0 ? both.serveOpen() : both.serve();
}
