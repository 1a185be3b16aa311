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

/// The two pools of a disaggregated service: how many workers prefill, and how
/// many decode. Each worker has the plan of its pool's `QueueModel`.
struct Disaggregation {
  int64_t prefillWorkers = 1, decodeWorkers = 1;
  /// Time in us from the end of a prefill to the first decode step, without the
  /// part that runs beside the prefill.
  double transferUs = 0;
  /// Open loop: largest number of requests per second that the links between
  /// all workers can carry; 0: unlimited.
  double linksPerS = 0;
};

/// The steady state of a disaggregated service. `state.running` counts requests
/// of a replica that decodes.
struct DisaggregatedState {
  SteadyState state;
  /// Saturation rate of each pool, in requests per second.
  double prefillMostPerS = 0, decodeMostPerS = 0;
  /// Mean number of prompts, over the whole deployment, that are being
  /// prefilled or wait for prefill.
  double prefilling = 0;
};

/// Computes the steady state of both pools together. For a closed loop it sets
/// only means: no percentiles, and not the rounds of a benchmark.
ServingRefusal serveDisaggregated(QueueModel &prefill, QueueModel &decode,
                                  const Disaggregation &pools,
                                  const ServedLoad &load,
                                  DisaggregatedState &served);

/// A pool of a simulation: `engines` lock-step groups that schedule
/// independently of each other.
struct SimulatedPool {
  StepPrices &prices;
  Engine engine;
  int64_t engines = 1;
};

/// The link by which a replica of the prefill pool sends KV caches.
struct SimulatedLink {
  /// Time in us until the KV caches of a request have arrived, and until the
  /// link is free for the next request.
  double transferUs = 0, busyUs = 0;
};

/// Simulates the requests of an open loop: first in the prefill pool, which
/// answers each prompt with one token; then the links; then the decode pool, in
/// which requests arrive with their KV caches. The first token is sent by the
/// decode pool. Replicas of the decode pool are numbered after those of the
/// prefill pool.
SimulationResult simulatePools(const SimulatedPool &prefill,
                               const SimulatedPool &decode,
                               const SimulatedLink &link,
                               const SimulatedLoad &load);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_DISAGGREGATION_H
