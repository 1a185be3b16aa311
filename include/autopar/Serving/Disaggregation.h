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

#include "autopar/Serving/QueueModel.h"
#include "autopar/Serving/Simulation.h"

namespace autopar::serving {

/// Workers of two pools; each has the plan of its `Server`.
/// Pools of workers that prefill and that decode.
struct Disaggregation {
  int64_t prefillWorkers = 1, decodeWorkers = 1;
  /// Time from the end of a prefill to the first decoding step, beyond what
  /// overlaps.
  double transferUs = 0;
  /// Open loops: most requests per second over the links between all workers;
  /// 0: unlimited.
  double linksPerS = 0;
};

/// What the pools do under a load; `running` of a replica that decodes.
struct DisaggregatedState {
  SteadyState state;
  /// Saturation rates of the pools, requests per second.
  double prefillMostPerS = 0, decodeMostPerS = 0;
  /// Mean prompts of the deployment that are prefilled or wait for that.
  double prefilling = 0;
};

/// The steady state of both pools together. A closed loop has means alone:
/// neither percentiles nor the rounds of a benchmark.
ServingRefusal serveDisaggregated(QueueModel &prefill, QueueModel &decode,
                                  const Disaggregation &pools,
                                  const ServedLoad &load,
                                  DisaggregatedState &served);

/// Engines of a pool that know nothing of each other.
/// A pool of a simulation: `engines` lock-step groups.
struct SimulatedPool {
  StepPrices &prices;
  Engine engine;
  int64_t engines = 1;
};

/// What a link of each replica that reads does with caches.
/// The link between the pools.
struct SimulatedLink {
  /// Time until KV caches have arrived, and until the link is free again, in
  /// us.
  double transferUs = 0, busyUs = 0;
};

/// Requests of an open loop, one by one: a pool that answers prompts with a
/// token, links, a pool that goes on. First tokens are seen where the caches
/// are; replicas are numbered on in the second pool.
/// Simulates the prefill pool, then the decode pool with the arrivals of its
/// caches.
SimulationResult simulatePools(const SimulatedPool &prefill,
                               const SimulatedPool &decode,
                               const SimulatedLink &link,
                               const SimulatedLoad &load);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_DISAGGREGATION_H
