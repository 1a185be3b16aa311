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

/// The requests of a simulation, in the order of their arrivals.
struct SimulatedLoad {
  std::vector<program::Request> requests;
  /// Closed loop: most requests in the deployment; each that ends lets the next
  /// one in. 0: requests arrive at their own times.
  int64_t concurrency = 0;
};

/// How a deployment schedules.
/// How an engine schedules the steps of one lock-step group.
struct Engine {
  /// Token budget of a step and most running sequences, of each replica.
  int64_t stepTokens = 8192, maxSequences = 1024;
  /// Whether prompts are prefilled beside decoding sequences, else in steps of
  /// their own before them.
  bool fusesPrompts = true;
  /// Decode pool: prompts arrive with the KV caches of all but their last
  /// token, which is computed in a decoding step.
  bool decodesOnly = false;
  /// Whether a prompt is cut into chunks where a step has no room for all of
  /// it.
  bool cutsPrompts = true;
  /// Whether room for the whole answer is reserved at admission; else sequences
  /// that no longer fit are preempted and prefilled again later.
  bool reservesAnswers = false;
  /// Time of a request outside of steps.
  RequestHost host;
  /// KV blocks of a replica, and tokens of a block.
  int64_t blocks = 1, blockTokens = 16;
  /// Replicas of the lock-step group.
  int64_t replicas = 1;

  int64_t blocksOf(int64_t tokens) const {
    return (tokens + blockTokens - 1) / blockTokens;
  }
};
/// That of a runtime whose replicas hold so many tokens.

/// The engine of a runtime whose replicas have KV caches of `capacityTokens`.
Engine engineOf(const runtime::Runtime &runtime, double capacityTokens,
                int64_t replicas);

/// What became of a request, microseconds from the start: its first token was
/// made, and then sent.
/// What became of a request. Times are us from the begin of the simulation; the
/// first token is made before it is sent.
struct ServedRequest {
  double arrivalUs = 0, madeUs = 0, firstTokenUs = 0, endUs = 0;
  int32_t replica = 0, evictions = 0;
};

struct SimulationResult {
  /// By the index of the load's requests.
  std::vector<ServedRequest> requests;
  double endUs = 0;
  int64_t steps = 0;
  /// Output tokens, and KV blocks in use at the end: 0 unless blocks leak.
  int64_t answerTokens = 0, blocksInUse = 0;
  cost::Refusal refusal;
  /// Index of a request that is longer than the KV caches of a replica.
  std::optional<size_t> tooLong;
  /// Whether the simulation stopped at `limits::maxSimulatedSteps`.
  bool isCut = false;
};

/// What was simulated, and what became of it.
struct SimulatedRun {
  SimulatedLoad load;
  SimulationResult result;
};

/// Of so many engines that know nothing of each other, to which requests are
/// dealt in turn; of a closed loop, each engine has its part of the places.
/// Simulates `engines` groups that requests are dealt to in turn.
SimulationResult simulate(StepPrices &prices, const Engine &engine,
                          const SimulatedLoad &load, int64_t engines = 1);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_SIMULATION_H
