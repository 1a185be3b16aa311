//===- Simulation.h - Requests through an engine, event by event -*- C++ -*-=//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Continuous batching as engines do it: each step takes a token further what
// decodes, and reads as much of waiting prompts as its budget of tokens and the
// KV caches allow. Steps take what the compiled strategy says.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_SIMULATION_H
#define AUTOPAR_SERVING_SIMULATION_H

#include "autopar/Program/Requests.h"
#include "autopar/Serving/RequestHost.h"
#include "autopar/Serving/StepPrices.h"

#include <vector>

namespace autopar::serving {

struct SimulatedLoad {
  std::vector<program::Request> requests;
  /// Requests in the deployment at most: each end lets the next one in. 0: they
  /// come when they say.
  int64_t concurrency = 0;
};

/// How a deployment schedules.
struct Engine {
  /// Tokens of a step, and sequences that run at once, of a replica.
  int64_t stepTokens = 8192, maxSequences = 1024;
  /// Prompts are read beside what decodes, or in steps of their own first.
  bool fusesPrompts = true;
  /// Prompts come with the caches of all but their last token, in whose step
  /// they decode.
  bool decodesOnly = false;
  /// Prompts are read in pieces where a step has no room for the whole.
  bool cutsPrompts = true;
  /// Room for the whole answer is kept from the start; else what does not fit
  /// any more is evicted, and read again later.
  bool reservesAnswers = false;
  /// What requests take before a step may have them.
  RequestHost host;
  /// KV blocks of a replica, and tokens of each.
  int64_t blocks = 1, blockTokens = 16;
  /// Replicas that take each step together.
  int64_t replicas = 1;

  int64_t blocksOf(int64_t tokens) const {
    return (tokens + blockTokens - 1) / blockTokens;
  }
};
/// That of a runtime whose replicas hold so many tokens.
Engine engineOf(const runtime::Runtime &runtime, double capacityTokens,
                int64_t replicas);

/// What became of a request, microseconds from the start: its first token was
/// made, and then sent.
struct ServedRequest {
  double arrivalUs = 0, madeUs = 0, firstTokenUs = 0, endUs = 0;
  int32_t replica = 0, evictions = 0;
};

struct SimulationResult {
  /// By index of the load's requests.
  std::vector<ServedRequest> requests;
  double endUs = 0;
  int64_t steps = 0;
  /// Tokens of answers that were made, and KV blocks in use when all had ended.
  int64_t answerTokens = 0, blocksInUse = 0;
  cost::Refusal refusal;
  /// Index of a request that is longer than the caches of a replica.
  std::optional<size_t> tooLong;
  /// Whether it took too many steps, and stopped.
  bool isCut = false;
};

/// What was simulated, and what became of it.
struct SimulatedRun {
  SimulatedLoad load;
  SimulationResult result;
};

/// Of so many engines that know nothing of each other, to which requests are
/// dealt in turn; of a closed loop, each engine has its part of the places.
SimulationResult simulate(StepPrices &prices, const Engine &engine,
                          const SimulatedLoad &load, int64_t engines = 1);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_SIMULATION_H
