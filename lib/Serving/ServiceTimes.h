//===- ServiceTimes.h - How long the unlucky wait ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_SERVICETIMES_H
#define AUTOPAR_LIB_SERVING_SERVICETIMES_H

#include "PromptQueue.h"
#include "autopar/Serving/Server.h"

#include <cmath>
#include <cstdint>

namespace autopar::serving {

/// For room: a share of requests does, for a time of an exponential law.
struct Waiting {
  double share = 0;
  /// Of all requests in the mean, microseconds.
  double meanUs = 0;
};

/// The share that waits of those that up to `servers` at once are served
/// together: `occupancy` of n is the load on n of them, `near` that on all.
/// That of a network of queues whose servers share what they do, which depends
/// on means alone (Baskett, Chandy, Muntz and Palacios 1975, DOI
/// 10.1145/321879.321887).
template <typename Occupancy>
double shareThatWaits(double servers, Occupancy occupancy, double near) {
  // How likely n are served, relative to none: the last n, and all before.
  double last = 1, fewer = 0;
  auto places = static_cast<int64_t>(servers);
  for (int64_t count = 1; count <= places; ++count) {
    fewer += last;
    last *= occupancy(static_cast<double>(count));
    if (last < 1e-12 * fewer)
      return 0;
    // Only their ratio counts.
    if (last > 1e100) {
      fewer /= last;
      last = 1;
    }
  }
  double all = last / (1 - near);
  return all / (fewer + all);
}

/// That a request decodes in.
inline double decodedSteps(const ServedLoad &load) {
  return load.decodedTokens() / load.tokensPerStep;
}

/// Steps that times of tokens are means of.
inline double decodingSteps(const ServedLoad &load) {
  return std::max(1.0, decodedSteps(load));
}

/// Steps where all that may decode do.
struct FullSteps {
  /// Of a replica.
  double running = 0;
  PromptQueue queue;
  double stepUs = 0;
  /// Requests that replicas that step together serve in a microsecond.
  double mostPerUs = 0;
  /// Whether fewer prompts are read than end.
  bool isCrowded = false;
};

/// Steps that decode and read nothing, by how many sequences all replicas that
/// step together decode: on a line from one of them to full steps.
struct DecodeLine {
  double oneUs = 0, growthUs = 0;

  double at(double count) const { return oneUs + growthUs * (count - 1); }
};

/// Says that `step` is the one that decodes.
inline void setDecodeStep(SteadyState &state, const StepTime &step) {
  state.decodeStepUs = step.us;
  state.communicationUs = step.communicationUs;
  state.hostUs = step.hostUs;
}

/// `prompts` whole prompts, but for what is cached.
inline StepLoad readingOf(const ServedLoad &load, double prompts) {
  return {0, 1, prompts, load.readTokens(), std::round(load.promptTokens)};
}

/// Says that sequences that decode verify drafts.
inline void addDrafts(const ServedLoad &load, StepLoad &step) {
  step.drafts = load.drafts;
  step.draftCost = load.draftCost;
}

/// Times of requests, microseconds, of log-normal laws.
struct ServiceTimes {
  FirstTokenTime first;
  Waiting waiting;
  TimeMoments token, request;

  /// Fills what `state` says of all requests, and of those within `limits`.
  void fill(const program::ServiceLimits &limits, SteadyState &state) const;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_SERVICETIMES_H
