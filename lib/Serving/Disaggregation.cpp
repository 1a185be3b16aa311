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
  double waitForLinkUs() const;
  double handedOnPerS(double ratePerS) const;
  /// Where so many sequences decode on each replica.
  ServingRefusal at(double running);
  double readingUs(double ratePerUs) const;

  Server &prefill, &decode;
  const Disaggregation &pools;
  const ServedLoad &load;
  DisaggregatedState &served;
  PromptPace pace;
  double ratePerUs = 0;
  /// Requests of the whole deployment.
  double population = 0;
};

} // namespace

/// From the arrival of a prompt until it is read: workers read several side by
/// side; what is beyond those waits, but not for itself.
double Pools::readingUs(double ratePerUs) const {
  double mostPerUs = served.prefillMostPerS / 1e6;
  double sideBySide = mostPerUs * pace.oneUs;
  double others = 1 - 1 / static_cast<double>(load.concurrency);
  double left = std::max(1e-6, 1 - ratePerUs * others / mostPerUs);
  double queued =
      (pace.oneUs - std::max(0.0, sideBySide - 1) / mostPerUs) / left;
  return std::max(pace.oneUs, queued);
}

ServingRefusal Pools::at(double running) {
  if (auto refusal = decode.stepAt(load, running, served.state))
    return refusal;
  double replicas =
      static_cast<double>(pools.decodeWorkers) * decode.replicaCount();
  double steps = std::max(1.0, load.decodedTokens() / load.tokensPerStep);
  ratePerUs = replicas * running / (steps * served.state.decodeStepUs);
  double inPrefill = ratePerUs * 1e6 < served.prefillMostPerS
                         ? ratePerUs * (readingUs(ratePerUs) + pools.transferUs)
                         : std::numeric_limits<double>::infinity();
  population = replicas * running + inPrefill;
  return {};
}

ServingRefusal Pools::serve() {
  constexpr int halvings = 40;
  SteadyState &state = served.state;
  if (auto refusal = prefill.paceOf(load, pace))
    return refusal;
  served.prefillMostPerS =
      pace.mostPerS * static_cast<double>(pools.prefillWorkers);
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
  state.tpotUs = state.decodeStepUs / load.tokensPerStep;
  // Who is not decoding waits.
  double replicas =
      static_cast<double>(pools.decodeWorkers) * decode.replicaCount();
  double readUs =
      std::max(pace.oneUs, (concurrency - replicas * low) / ratePerUs);
  served.reading = ratePerUs * readUs;
  state.isCacheFull = low >= most * (1 - 1e-3);
  state.ttftUs = readUs;
  state.outputTokensPerSecond = 1e6 * ratePerUs * load.answerTokens;
  bool isLate = load.limits.ttftUs && state.ttftUs > *load.limits.ttftUs;
  bool isSlow = load.limits.tpotUs && state.tpotUs > *load.limits.tpotUs;
  state.shareWithinLimits = isLate || isSlow ? 0 : 1;
  return {};
}

/// As for one server with times of one length: of M/D/1.
double Pools::waitForLinkUs() const {
  if (pools.linksPerS <= 0)
    return 0;
  double used = load.ratePerS / pools.linksPerS;
  return used < 1 ? used / (1 - used) / 2 * pools.transferUs : 0;
}

/// Of so many requests, those that are read and moved.
double Pools::handedOnPerS(double ratePerS) const {
  double readPerS = std::min(ratePerS, served.prefillMostPerS);
  return pools.linksPerS > 0 ? std::min(readPerS, pools.linksPerS) : readPerS;
}

/// A pool that answers each prompt with a token, links, and a pool to which
/// prompts come read. First tokens are those of the first pool; what waits for
/// room in the second one keeps them.
ServingRefusal Pools::serveOpen() {
  SteadyState &state = served.state;
  ServedLoad reading = load, writing = load;
  reading.answerTokens = 1;
  reading.answerVariation = 0;
  reading.drafts = 0;
  reading.tokensPerStep = 1;
  reading.ratePerS /= static_cast<double>(pools.prefillWorkers);
  writing.isRead = true;
  SteadyState read;
  ServiceTimes readTimes, times;
  if (auto refusal = prefill.roomOf(reading, read))
    return refusal;
  if (auto refusal = prefill.serveOpen(reading, read, readTimes))
    return refusal;
  served.prefillMostPerS =
      read.mostPerS * static_cast<double>(pools.prefillWorkers);
  writing.ratePerS =
      handedOnPerS(load.ratePerS) / static_cast<double>(pools.decodeWorkers);
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
  state.promptStepUs = read.promptStepUs;
  state.addedByPromptUs = 0;
  state.promptsPerStep = read.promptsPerStep;
  double servedPerS = std::min(load.ratePerS, state.mostPerS);
  state.outputTokensPerSecond = servedPerS * load.answerTokens;
  if (state.isOverloaded) {
    state.ttftUs = std::numeric_limits<double>::infinity();
    served.reading = state.ttftUs;
    state.shareWithinLimits = load.limits.any() ? 0 : 1;
    return {};
  }
  TimeMoments moved = {pools.transferUs + waitForLinkUs(), 0};
  times.first = readTimes.first;
  times.first.add(moved);
  served.reading = load.ratePerS / 1e6 * times.first.mean();
  state.ttftUs = times.first.mean() + times.waiting.meanUs;
  TimeMoments first = times.first.moments();
  // It comes in the midst of a step.
  double decodeUs = load.decodedTokens() * state.tpotUs;
  times.request.mean = state.ttftUs + state.decodeStepUs / 2 + decodeUs;
  times.request.variance =
      first.variance + decodeUs * decodeUs * load.answerVariation +
      load.answerTokens * load.answerTokens * times.token.variance;
  if (load.hasSpread)
    times.fill(load.limits, state);
  return {};
}

ServingRefusal autopar::serveDisaggregated(Server &prefill, Server &decode,
                                           const Disaggregation &pools,
                                           const ServedLoad &load,
                                           DisaggregatedState &served) {
  Pools both(prefill, decode, pools, load, served);
  return load.concurrency == 0 ? both.serveOpen() : both.serve();
}
