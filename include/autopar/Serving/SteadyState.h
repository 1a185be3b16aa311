//===- SteadyState.h - Engines under constant load --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// So many requests at once, each followed by another: what a token takes in the
// mean, and what a first one does. Steps are those of the compiled strategy.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_STEADYSTATE_H
#define AUTOPAR_SERVING_STEADYSTATE_H

#include "autopar/Program/Requests.h"

#include <algorithm>
#include <array>

namespace autopar::serving {

/// Points and weights that integrate over a normal law what is near a
/// polynomial of up to the ninth degree (Gauss and Hermite; Abramowitz and
/// Stegun 1964, table 25.10).
inline constexpr std::array<double, 5> gaussPoints = {
    -2.85697001387281, -1.35562617997427, 0, 1.35562617997427,
    2.85697001387281};
inline constexpr std::array<double, 5> gaussWeights = {
    0.0112574113277207, 0.222075922005613, 0.533333333333333, 0.222075922005613,
    0.0112574113277207};

/// What a deployment is asked.
struct ServedLoad {
  /// Requests at once, each followed by another; 0: `ratePerS` says.
  int64_t concurrency = 1;
  /// Of a request in the mean.
  double promptTokens = 1, answerTokens = 1;
  /// Requests that each of them makes in turn, the first of all at once, as
  /// benchmarks do; 0 is without beginning or end.
  double rounds = 0;
  /// Requests that come in a second, by Poisson's law.
  double ratePerS = 0;
  /// Variance of the tokens over their squared mean.
  double promptVariation = 0, answerVariation = 0;
  /// Of prompts and answers that differ, five lengths that stand for all, in
  /// the order of `gaussWeights`.
  std::array<double, 5> promptsAt = {}, answersAt = {};
  /// Share of the tokens of a prompt that the KV caches have already.
  double cachedShare = 0;
  /// Drafts of a step for each sequence, what one takes as a part of a step
  /// without any, and tokens that a step adds to a sequence in the mean.
  double drafts = 0, draftCost = 0, tokensPerStep = 1;
  /// Of an open loop: whether prompts come read, with all their caches.
  bool isRead = false;
  program::ServiceLimits limits = {};
  /// Whether percentiles are wanted.
  bool hasSpread = false;

  /// That come so, of a service without beginning or end.
  static ServedLoad of(const program::Requests &requests);
  /// Tokens of a prompt that no cache has.
  double readTokens() const;
  /// What a sequence that decodes has cached, in the mean over tokens.
  double contextTokens() const;
  double requestTokens() const { return promptTokens + answerTokens; }
  /// The first token is of the step that reads the prompt.
  double decodedTokens() const { return std::max(0.0, answerTokens - 1); }
};

/// The values below which such shares of all lie.
struct Percentiles {
  double p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};

/// What a first token waits for, in the mean over requests, microseconds.
struct FirstTokenParts {
  /// The server outside of steps, and the steps that read its own prompt.
  double hostUs = 0, readUs = 0;
  /// The rest of the step that runs when it comes, those until the engine looks
  /// for it included; and what reads or holds the room of others.
  double stepUs = 0, queueUs = 0;
  /// The link between two pools, and the tokens that it is sent with.
  double moveUs = 0, sendUs = 0;

  double sum() const {
    return hostUs + readUs + stepUs + queueUs + moveUs + sendUs;
  }
};

/// Times are microseconds.
struct SteadyState {
  /// Requests of a replica that run at once in the mean, prompts that a step
  /// with any has (of all replicas that step together), and requests of a
  /// replica that wait for room.
  double running = 0, promptsPerStep = 0, waiting = 0;
  /// Of those that step together, all but the ones whose prompts a step reads:
  /// each is replaced once while a request of a closed loop answers.
  double others = 0;
  /// Prompts of a replica that are read, or wait for that, in an open loop.
  double reading = 0;
  /// Whether requests wait for room in the KV caches.
  bool isCacheFull = false;
  /// Tokens that the KV caches of a replica hold.
  double capacityTokens = 0;
  /// A step that decodes, one that has prompts too (or, of a runtime that
  /// alternates, alone), and what a prompt adds to the steps of the others.
  double decodeStepUs = 0, promptStepUs = 0, addedByPromptUs = 0;
  /// Of the decoding step, its communication and its host's, layers included.
  double communicationUs = 0, hostUs = 0;
  /// Mean times, to the first token those of all rounds, the sum of its parts
  /// where it is finite.
  double tpotUs = 0, ttftUs = 0;
  FirstTokenParts firstToken;
  /// Of the whole deployment. Requests at a steady rate that it cannot serve
  /// have no steady state: times are those of what it serves then, and the
  /// queue grows.
  double outputTokensPerSecond = 0;
  bool isOverloaded = false;
  /// Of an open loop: whether as many requests are there as have room. Times do
  /// not have what others wait for it, nor evictions.
  bool fillsRoom = false;
  /// Of an open loop: requests a second that the deployment serves at most.
  double mostPerS = 0;
  /// Of times to the first token, from token to token in the mean of a
  /// request, and of whole requests; not of benchmarks' rounds.
  Percentiles ttft, tpot, request;
  /// Of requests.
  double shareWithinLimits = 1;
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_STEADYSTATE_H
