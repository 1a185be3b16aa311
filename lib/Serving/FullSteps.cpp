//===- FullSteps.cpp - Where most is served -------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceTimes.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

/// Where so many run, as many as end in a step come in the next: what such a
/// step takes that reads so many prompts in the mean.
static double fullStepUs(const PromptQueue &queue, double prompts) {
  // Full steps of their own, or part of one.
  if (!queue.fusesPrompts && queue.longestUs > 0)
    return queue.decodeUs + queue.fullRunUs(prompts);
  if (!queue.fusesPrompts && prompts > queue.perStep)
    return queue.decodeUs + prompts * queue.fullUs();
  return queue.decodeUs + queue.readUs(prompts);
}

/// For each request that ends where the caches of `running` are full and others
/// wait for room: what is evicted. Before a step, some room is left, less than
/// a prompt takes, and as likely as any; the step takes a token for each that
/// decodes, and those that end in it, of Poisson's law, give theirs back.
static double evictionsPerEnd(const ServedLoad &load, double running) {
  constexpr double least = 1e-9;
  double ends = running / decodedSteps(load);
  double lacks = running * load.tokensPerStep, term = std::exp(-ends);
  double evicted = 0;
  for (int count = 1; lacks > 0 && (term > least || count < ends); ++count) {
    evicted += term * lacks / load.promptTokens;
    lacks -= load.requestTokens();
    term *= ends / count;
  }
  return evicted / ends;
}

/// The steps of replicas where so many decode on each, and as many prompts come
/// as end, and as are evicted for each of those.
ServingRefusal Server::fullAt(const ServedLoad &load, double running,
                              double evictions, FullSteps &full) {
  constexpr double shortest = 1e-6;
  StepTime decode;
  FirstStep first;
  full.running = running;
  full.queue.ratePerUs = load.ratePerS / prices.groupCount() / 1e6;
  if (auto refusal = describe(load, running, full.queue, decode, first))
    return refusal;
  double ends =
      running * prices.togetherCount() / std::max(shortest, decodedSteps(load));
  double prompts = ends * (1 + evictions);
  full.isCrowded = prompts > full.queue.perStep;
  if (full.queue.fusesPrompts)
    prompts = std::min(prompts, full.queue.perStep);
  full.stepUs = fullStepUs(full.queue, prompts);
  full.mostPerUs = prompts / (1 + evictions) / full.stepUs;
  return {};
}

/// Where most is served: with all that have room, unless those leave prompts
/// too little room in the steps.
ServingRefusal Server::findFull(const ServedLoad &load,
                                const SteadyState &state, FullSteps &full) {
  constexpr double fewer = 0.85;
  bool evicts = state.isCacheFull && !runtime.reservesAnswers && !load.isRead &&
                load.decodedTokens() > 0;
  double evictions = evicts ? evictionsPerEnd(load, state.running) : 0;
  if (auto refusal = fullAt(load, state.running, evictions, full))
    return refusal;
  if (!runtime.fusesPrompts || load.isRead || !full.isCrowded)
    return {};
  // Less and less is served beyond the best of them.
  constexpr double much = 0.9;
  double running = state.running * fewer, served = full.mostPerUs;
  while (running >= 1 && served > much * full.mostPerUs) {
    FullSteps other;
    other.queue.law = full.queue.law;
    if (auto refusal = fullAt(load, std::floor(running), 0, other))
      return refusal;
    served = other.mostPerUs;
    if (served > full.mostPerUs)
      full = other;
    running *= fewer;
  }
  return {};
}
