//===- Disaggregation.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/Disaggregation.h"

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

private:
  /// Where so many sequences decode on each replica.
  ServingRefusal at(double running);
  double readingUs(double ratePerUs) const;
  double fit(double most) const;

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
  double others =
      load.concurrency > 0 ? 1 - 1 / static_cast<double>(load.concurrency) : 1;
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
  double steps = std::max(1.0, load.answerTokens - 1);
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
  state.isOverloaded = load.concurrency == 0 && load.ratePerS >= state.mostPerS;
  auto isTooMuch = [&] {
    return load.concurrency > 0
               ? population > static_cast<double>(load.concurrency)
               : ratePerUs * 1e6 > load.ratePerS;
  };
  // More sequences are a higher rate, of which prompts that wait are more.
  double low = 0, high = most;
  for (int i = 0; i < halvings && high - low > 1e-4 * high; ++i) {
    double middle = (low + high) / 2;
    if (auto refusal = at(middle))
      return refusal;
    (isTooMuch() ? high : low) = middle;
  }
  state.running = low;
  if (auto refusal = at(low))
    return refusal;
  state.tpotUs = state.decodeStepUs;
  double readUs = readingUs(ratePerUs) + pools.transferUs;
  double replicas =
      static_cast<double>(pools.decodeWorkers) * decode.replicaCount();
  // Who is not decoding waits, of closed loops.
  if (load.concurrency > 0)
    readUs = std::max(pace.oneUs,
                      (static_cast<double>(load.concurrency) - replicas * low) /
                          ratePerUs);
  served.reading = ratePerUs * readUs;
  state.isCacheFull = low >= most * (1 - 1e-3);
  state.ttftUs =
      state.isOverloaded ? std::numeric_limits<double>::infinity() : readUs;
  state.outputTokensPerSecond = 1e6 * ratePerUs * load.answerTokens;
  return {};
}

ServingRefusal autopar::serveDisaggregated(Server &prefill, Server &decode,
                                           const Disaggregation &pools,
                                           const ServedLoad &load,
                                           DisaggregatedState &served) {
  return Pools(prefill, decode, pools, load, served).serve();
}
