//===- SteadyState.h - Loads of a service and its times --------------*- C++
//-*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The load that a service is asked about, and what the queue model answers.
// Times are microseconds.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_STEADYSTATE_H
#define AUTOPAR_SERVING_STEADYSTATE_H

#include "autopar/Program/Requests.h"

#include <algorithm>
#include <array>

namespace autopar::serving {

/// Points (in standard deviations) and weights of Gauss-Hermite quadrature over
/// a normal distribution: exact for polynomials up to the ninth degree
/// (Abramowitz and Stegun 1964, table 25.10).
inline constexpr std::array<double, 5> gaussPoints = {
    -2.85697001387281, -1.35562617997427, 0, 1.35562617997427,
    2.85697001387281};
inline constexpr std::array<double, 5> gaussWeights = {
    0.0112574113277207, 0.222075922005613, 0.533333333333333, 0.222075922005613,
    0.0112574113277207};

/// A load of requests that all follow the same distributions.
struct ServedLoad {
  /// Closed loop: number of requests that run at once, each of which is
  /// followed by another. 0: an open loop.
  int64_t concurrency = 1;
  /// Mean number of prompt tokens and of output tokens of a request.
  double promptTokens = 1, answerTokens = 1;
  /// Closed loop of a benchmark: how many requests follow each other in each of
  /// the `concurrency` places, where the first ones arrive at once. 0: a loop
  /// without begin and end.
  double rounds = 0;
  /// Open loop: arrival rate in requests per second (a Poisson process).
  double ratePerS = 0;
  /// Squared coefficients of variation of the prompt tokens and of the output
  /// tokens.
  double promptVariation = 0, answerVariation = 0;
  /// Prompt lengths in tokens at the five `gaussPoints`, if lengths differ.
  std::array<double, 5> promptsAt = {};
  /// Share of a prompt's tokens that are prefix-cache hits.
  double cachedShare = 0;
  /// Speculative decoding: number of drafts per sequence and step; time of one
  /// draft over that of a step without drafts; mean number of tokens that a
  /// step adds to a sequence.
  double drafts = 0, draftCost = 0, tokensPerStep = 1;
  /// Open loop of a decode pool: whether prompts arrive already prefilled, with
  /// their KV caches.
  bool arePrefilled = false;
  program::ServiceLimits limits = {};
  /// Whether to compute percentiles besides means.
  bool hasSpread = false;

  /// Returns the load of `requests`, as a loop without begin and end.
  static ServedLoad of(const program::Requests &requests);
  /// Returns the mean number of a prompt's tokens that are not prefix-cache
  /// hits.
  double uncachedTokens() const;
  /// Returns the mean context of a decoding sequence, in tokens, averaged over
  /// its output.
  double contextTokens() const;
  double requestTokens() const { return promptTokens + answerTokens; }
  /// Returns the number of output tokens that take a decode step: all but the
  /// first, which the prefill makes.
  double decodedTokens() const { return std::max(0.0, answerTokens - 1); }
};

/// Some percentiles of a distribution of times, in us.
struct Percentiles {
  double p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};

/// The parts of the mean time to first token, in us.
struct FirstTokenParts {
  /// `hostUs`: time of the server outside of steps. `prefillUs`: time of the
  /// steps that prefill the request's own prompt.
  double hostUs = 0, prefillUs = 0;
  /// `stepUs`: rest of the step that runs at the arrival, and of the steps
  /// until the engine polls for requests. `queueUs`: prefill of other prompts
  /// before it, and the wait for free KV blocks.
  double stepUs = 0, queueUs = 0;
  /// `moveUs`: transfer between two pools. `sendUs`: wait for the tokens that
  /// are sent together with the first.
  double moveUs = 0, sendUs = 0;

  double sum() const {
    return hostUs + prefillUs + stepUs + queueUs + moveUs + sendUs;
  }
};

/// The steady state of a service under a load. Values are means over requests;
/// times are in us.
struct SteadyState {
  /// `running`: mean number of requests of a replica that decode.
  /// `promptsPerStep`: prompts of a lock-step group, in steps that have any.
  /// `waiting`: mean number of requests of a replica that wait for free KV
  /// blocks.
  double running = 0, promptsPerStep = 0, waiting = 0;
  /// Closed loop: number of requests of a lock-step group, without those that a
  /// step prefills. While a request decodes, each of the others is replaced
  /// once.
  double others = 0;
  /// Open loop: mean number of prompts of a replica that are being prefilled or
  /// wait for prefill.
  double prefilling = 0;
  /// Whether requests wait for free KV blocks.
  bool isCacheFull = false;
  /// Number of tokens that the KV caches of a replica hold.
  double capacityTokens = 0;
  /// `decodeStepUs`: time of a step that only decodes. `promptStepUs`: time of
  /// a step with prompts (without decoding, if the runtime alternates).
  /// `addedByPromptUs`: time that a prompt adds to the steps of other requests.
  double decodeStepUs = 0, promptStepUs = 0, addedByPromptUs = 0;
  /// Communication time and host time of the decode step.
  double communicationUs = 0, hostUs = 0;
  /// `tpotUs`: mean time per output token. `ttftUs`: mean time to first token
  /// over all rounds; it is the sum of `firstToken`, if that is finite.
  double tpotUs = 0, ttftUs = 0;
  FirstTokenParts firstToken;
  /// Output tokens per second of the whole deployment. An open loop beyond
  /// saturation has no steady state (`isOverloaded`): its times are those at
  /// saturation, and its queue grows.
  double outputTokensPerSecond = 0;
  bool isOverloaded = false;
  /// Open loop: whether running requests fill the KV caches. The times then
  /// include neither preemptions nor the wait of other requests for free KV
  /// blocks.
  bool fillsRoom = false;
  /// Open loop: saturation rate of the deployment, in requests per second.
  double mostPerS = 0;
  /// Percentiles over requests of the time to first token, of a request's mean
  /// time per output token, and of the time of the whole request. Not set for a
  /// benchmark's rounds.
  Percentiles ttft, tpot, request;
  /// Share of the requests that meet the latency limits of the load.
  double shareWithinLimits = 1;

  /// Sets the time of the decode step and its communication and host parts, in
  /// us.
  void setDecodeStep(double us, double ofCommunicationUs, double ofHostUs) {
    decodeStepUs = us;
    communicationUs = ofCommunicationUs;
    hostUs = ofHostUs;
  }
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_STEADYSTATE_H
