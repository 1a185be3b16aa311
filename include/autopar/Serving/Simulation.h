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
  /// Closed loop: largest number of requests in the deployment; when one ends,
  /// the next one enters. 0: requests arrive at their own times.
  int64_t concurrency = 0;
};

/// How an engine schedules the steps of one lock-step group.
struct Engine {
  /// Largest number of tokens in a step, and largest number of running
  /// sequences, both for each replica.
  int64_t stepTokens = 8192, maxSequences = 1024;
  /// Whether prompts are prefilled in the same steps as decoding sequences; if
  /// not, in steps of their own before these.
  bool fusesPrompts = true;
  /// Whether this is the engine of a decode pool: prompts arrive with the KV
  /// caches of all tokens but the last, which a decode step computes.
  bool decodesOnly = false;
  /// Whether a prompt is cut into chunks if a step has no room for all of it.
  bool cutsPrompts = true;
  /// Whether KV blocks for the whole answer are reserved at admission. If not,
  /// sequences that no longer fit are preempted and prefilled again later.
  bool reservesAnswers = false;
  /// Host time of a request outside of steps.
  RequestHost host;
  /// Number of KV blocks of a replica, and number of tokens of a block.
  int64_t blocks = 1, blockTokens = 16;
  /// Number of replicas of the lock-step group.
  int64_t replicas = 1;

  int64_t blocksOf(int64_t tokens) const {
    return (tokens + blockTokens - 1) / blockTokens;
  }
};

/// Returns the engine of a runtime whose replicas have KV caches for
/// `capacityTokens` tokens.
Engine engineOf(const runtime::Runtime &runtime, double capacityTokens,
                int64_t replicas);

/// The times of one request, in us from the beginning of the simulation: its
/// arrival, the making of its first token, the sending of its first token, and
/// its end.
struct ServedRequest {
  double arrivalUs = 0, madeUs = 0, firstTokenUs = 0, endUs = 0;
  int32_t replica = 0, evictions = 0;
};

struct SimulationResult {
  /// The served requests, in the order of the load's requests.
  std::vector<ServedRequest> requests;
  double endUs = 0;
  int64_t steps = 0;
  /// Number of output tokens, and KV blocks in use at the end, which must be 0.
  int64_t answerTokens = 0, blocksInUse = 0;
  cost::Refusal refusal;
  /// Index of a request that is longer than the KV caches of a replica, if
  /// there is one.
  std::optional<size_t> tooLong;
  /// Whether the simulation stopped at `limits::maxSimulatedSteps`.
  bool isCut = false;
};

/// The load of a simulation, and its result.
struct SimulatedRun {
  SimulatedLoad load;
  SimulationResult result;
};

/// Simulates `engines` lock-step groups that schedule independently. Requests
/// are dealt to them in turn; in a closed loop, each group has its share of the
/// concurrent requests.
SimulationResult simulate(StepPrices &prices, const Engine &engine,
                          const SimulatedLoad &load, int64_t engines = 1);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_SIMULATION_H
