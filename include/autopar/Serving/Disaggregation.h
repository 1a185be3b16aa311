//===- Disaggregation.h - Pools that read, pools that write -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some workers read prompts, others decode: requests go from the first to the
// second, with their KV caches. The slower of the two sets the rate.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_DISAGGREGATION_H
#define AUTOPAR_SERVING_DISAGGREGATION_H

#include "autopar/Serving/Server.h"
#include "autopar/Serving/Simulation.h"

namespace autopar::serving {

/// Workers of two pools; each has the plan of its `Server`.
struct Disaggregation {
  int64_t prefillWorkers = 1, decodeWorkers = 1;
  /// From the end of a prompt to its first step, beyond what is hidden.
  double transferUs = 0;
  /// Requests that the links between all workers move in a second at most; 0:
  /// any number. Of open loops.
  double linksPerS = 0;
};

/// What the pools do under a load; `running` of a replica that decodes.
struct DisaggregatedState {
  SteadyState state;
  /// Requests that the pools serve in a second at most.
  double prefillMostPerS = 0, decodeMostPerS = 0;
  /// That wait for a worker that reads, or are read, of the whole deployment.
  double reading = 0;
};

/// Of closed loops means alone: no percentiles. No rounds.
ServingRefusal serveDisaggregated(Server &prefill, Server &decode,
                                  const Disaggregation &pools,
                                  const ServedLoad &load,
                                  DisaggregatedState &served);

/// Engines of a pool that know nothing of each other.
struct SimulatedPool {
  StepPrices &prices;
  Engine engine;
  int64_t engines = 1;
};

/// What a link of each replica that reads does with caches.
struct SimulatedLink {
  /// Until they are there, and until the next ones may go.
  double transferUs = 0, busyUs = 0;
};

/// Requests of an open loop, one by one: a pool that answers prompts with a
/// token, links, a pool that goes on. First tokens are seen where the caches
/// are; replicas are numbered on in the second pool.
SimulationResult simulatePools(const SimulatedPool &prefill,
                               const SimulatedPool &decode,
                               const SimulatedLink &link,
                               const SimulatedLoad &load);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_DISAGGREGATION_H
