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

/// A load of requests that are alike in distribution.
struct ServedLoad {
  /// Closed loop: requests at once, each followed by another. 0: an open loop.
  int64_t concurrency = 1;
  /// Mean tokens of a request.
  double promptTokens = 1, answerTokens = 1;
  /// Closed loop of a benchmark: requests that each place makes in turn, where
  /// the first ones arrive at once. 0: a loop without begin and end.
  double rounds = 0;
  /// Open loop: Poisson arrivals, requests per second.
  double ratePerS = 0;
  /// Squared coefficients of variation of the tokens.
  double promptVariation = 0, answerVariation = 0;
  /// Prompt lengths in tokens at the five `gaussPoints`, where lengths differ.
  std::array<double, 5> promptsAt = {};
  /// Share of the tokens of a prompt that are prefix-cache hits.
  double cachedShare = 0;
  /// Speculative decoding: drafts of a sequence and step, time of one draft
  /// over that of a step without drafts, and mean tokens that a step adds to a
  /// sequence.
  double drafts = 0, draftCost = 0, tokensPerStep = 1;
  /// Open loop of a decode pool: prompts arrive prefilled, with their KV
  /// caches.
  bool arePrefilled = false;
  program::ServiceLimits limits = {};
  /// Whether percentiles are wanted beside means.
  bool hasSpread = false;

  /// The load of `requests`, without begin and end.
  static ServedLoad of(const program::Requests &requests);
  /// Mean tokens of a prompt that are no prefix-cache hits.
  double uncachedTokens() const;
  /// Mean context of a decoding sequence over its tokens.
  double contextTokens() const;
  double requestTokens() const { return promptTokens + answerTokens; }
  /// Tokens that take a decoding step: the prefill makes the first one.
  double decodedTokens() const { return std::max(0.0, answerTokens - 1); }
};

/// Percentiles of a distribution.
struct Percentiles {
  double p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};

/// Parts of the mean time to the first token, in us.
struct FirstTokenParts {
  /// The server outside of steps, and the steps that prefill the own prompt.
  double hostUs = 0, prefillUs = 0;
  /// The rest of the running step (with those until the engine looks for
  /// requests), and the prefill of other prompts and the wait for room.
  double stepUs = 0, queueUs = 0;
  /// The transfer between two pools, and the wait for the tokens that are sent
  /// together with the first.
  double moveUs = 0, sendUs = 0;

  double sum() const {
    return hostUs + prefillUs + stepUs + queueUs + moveUs + sendUs;
  }
};

/// What a service does under a load, in the mean over requests. Times are us.
struct SteadyState {
  /// Mean requests of a replica that decode; prompts of a lock-step group in a
  /// step with any; mean requests of a replica that wait for room.
  double running = 0, promptsPerStep = 0, waiting = 0;
  /// Closed loop: requests of a lock-step group but for those that a step
  /// prefills. Each of them is replaced once while a request answers.
  double others = 0;
  /// Open loop: mean prompts of a replica that are prefilled or wait for that.
  double prefilling = 0;
  /// Whether requests wait for room in the KV caches.
  bool isCacheFull = false;
  /// Tokens that the KV caches of a replica hold.
  double capacityTokens = 0;
  /// A step that only decodes; one with prompts too (without decoding, where
  /// the runtime alternates); and what a prompt adds to the steps of the
  /// others.
  double decodeStepUs = 0, promptStepUs = 0, addedByPromptUs = 0;
  /// Communication and host time of the decoding step.
  double communicationUs = 0, hostUs = 0;
  /// Mean time per output token, and mean time to the first token over all
  /// rounds: the sum of its parts where it is finite.
  double tpotUs = 0, ttftUs = 0;
  FirstTokenParts firstToken;
  /// Throughput of the whole deployment. An open loop beyond saturation has no
  /// steady state: its times are those at saturation, and its queue grows.
  double outputTokensPerSecond = 0;
  bool isOverloaded = false;
  /// Open loop: whether running requests fill the room. Times then lack what
  /// others wait for it, and preemptions.
  bool fillsRoom = false;
  /// Open loop: saturation rate of the deployment, requests per second.
  double mostPerS = 0;
  /// Percentiles over requests: time to the first token, mean time per output
  /// token, time of the whole request. Without a benchmark's rounds.
  Percentiles ttft, tpot, request;
  /// Share of the requests that are within the limits of the load.
  double shareWithinLimits = 1;

  /// Sets the decoding step and what it consists of, in us.
  void setDecodeStep(double us, double ofCommunicationUs, double ofHostUs) {
    decodeStepUs = us;
    communicationUs = ofCommunicationUs;
    hostUs = ofHostUs;
  }
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_STEADYSTATE_H
