//===- Saturation.cpp - The most that a service serves --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EngineSteps.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

/// Returns the time in us of a step in which as many requests end as `prompts`
/// begin.
static double fullStepUs(const StepQueue &queue, double prompts) {
  if (!queue.fusesPrompts && queue.sameReplicaUs > 0)
    return queue.decodeUs + queue.fullRunUs(prompts);
  if (!queue.fusesPrompts && prompts > queue.maxPrompts)
    return queue.decodeUs + prompts * queue.fullUs();
  return queue.decodeUs + queue.prefillUs(prompts);
}

/// Returns the number of preemptions for each request that ends, if the KV
/// caches of `running` requests are full (Q5). Before a step, the free room is
/// uniformly distributed below the room of a prompt. The step takes a token of
/// room for each sequence; the requests that end in it, a Poisson number, give
/// their room back.
static double evictionsPerEnd(const ServedLoad &load, double running) {
  constexpr double smallestTerm = 1e-9;
  double ends = running / decodedSteps(load);
  double lacks = running * load.tokensPerStep, term = std::exp(-ends);
  double evicted = 0;
  for (int count = 1; lacks > 0 && (term > smallestTerm || count < ends);
       ++count) {
    evicted += term * lacks / load.promptTokens;
    lacks -= load.requestTokens();
    term *= ends / count;
  }
  return evicted / ends;
}

/// Finds the steps in which `running` sequences decode on each replica, while
/// prompts replace the requests that end and those that are preempted.
ServingRefusal EngineSteps::fullAt(const ServedLoad &load, double running,
                                   double evictions, FullSteps &full) {
  // A request of one token ends when it begins, and decodes in no step.
  constexpr double fewestSteps = 1e-6;
  StepTime decode;
  StepQueue &queue = full.queue;
  full.running = running;
  queue.arrivalsPerUs = load.ratePerS / prices.groupCount() / 1e6;
  if (auto refusal = describe(load, running, queue, decode))
    return refusal;
  double ends = running * prices.lockStepReplicas() /
                std::max(fewestSteps, decodedSteps(load));
  double prompts = ends * (1 + evictions);
  full.isCrowded = prompts > queue.maxPrompts;
  if (queue.fusesPrompts)
    prompts = std::min(prompts, queue.maxPrompts);
  full.stepUs = fullStepUs(queue, prompts);
  full.mostPerUs = prompts / (1 + evictions) / full.stepUs;
  return {};
}

ServingRefusal EngineSteps::findFull(const ServedLoad &load,
                                     const SteadyState &room, FullSteps &full) {
  bool evicts = room.isCacheFull && !runtime.reservesAnswers &&
                !load.arePrefilled && load.decodedTokens() > 0;
  double evictions = evicts ? evictionsPerEnd(load, room.running) : 0;
  if (auto refusal = fullAt(load, room.running, evictions, full))
    return refusal;
  if (!runtime.fusesPrompts || load.arePrefilled || !full.isCrowded)
    return {};
  // Fewer sequences leave more room for prompts. The number falls in steps of
  // 15 %, which come within 1 % of the best, until a step serves 10 % less than
  // the best so far.
  constexpr double fewer = 0.85, muchLess = 0.9;
  double running = room.running * fewer, served = full.mostPerUs;
  while (running >= 1 && served > muchLess * full.mostPerUs) {
    FullSteps other;
    other.queue.spread = full.queue.spread;
    if (auto refusal = fullAt(load, std::floor(running), 0, other))
      return refusal;
    served = other.mostPerUs;
    if (served > full.mostPerUs)
      full = other;
    running *= fewer;
  }
  return {};
}
