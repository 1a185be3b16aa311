//===- OpenLoop.h - Requests that arrive at a rate --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_OPENLOOP_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_OPENLOOP_H

#include "EngineSteps.h"
#include "ServiceTimes.h"

namespace autopar::serving {

/// The time of a step that only decodes, as a line over the number of sequences
/// of a lock-step group: one sequence takes `oneUs`, and each further sequence
/// adds `growthUs`.
struct DecodeLine {
  double oneUs = 0, growthUs = 0;

  double at(double count) const { return oneUs + growthUs * (count - 1); }
};

/// Models an open loop (docs/serving.md, "Open loop"). It finds the saturation
/// rate, then the mean time of a token with as many sequences as this time
/// makes run (Little's law), then the times to the first token.
class OpenLoop {
public:
  /// `state.running` gives the number of requests that have room. All arguments
  /// must outlive the object.
  OpenLoop(StepPrices &prices, const runtime::Runtime &runtime,
           const RequestHost &host, const ServedLoad &load, SteadyState &state,
           ServiceTimes &times)
      : prices(prices), steps(prices, runtime), host(host), load(load),
        state(state), times(times) {}

  ServingRefusal run();

private:
  ServingRefusal serveMost();
  ServingRefusal serveAll();
  ServingRefusal findLine();
  ServingRefusal findToken(double mostSequences, double &tokenUs);
  void timeRequests(double places);
  void waitForRoom(double places);

  StepPrices &prices;
  EngineSteps steps;
  const RequestHost &host;
  const ServedLoad &load;
  SteadyState &state;
  ServiceTimes &times;
  /// The steps at saturation (`full`), and the queue, the decoding step and the
  /// line of decoding steps at the load.
  FullSteps full;
  StepQueue queue;
  StepTime decode;
  DecodeLine line;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_OPENLOOP_H
