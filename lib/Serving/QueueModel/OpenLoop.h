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

/// Steps that only decode, as a line over the sequences of a lock-step group:
/// one of them takes `oneUs`, each further one `growthUs` more.
struct DecodeLine {
  double oneUs = 0, growthUs = 0;

  double at(double count) const { return oneUs + growthUs * (count - 1); }
};

/// An open loop (docs/serving.md, "Open loop"): finds the saturation rate, then
/// the mean time of a token with as many sequences as that time makes run
/// (Little's law), then times to the first token.
class OpenLoop {
public:
  /// `state` has the requests that have room, in `running`. All outlive it.
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
  /// At saturation, and at the load.
  FullSteps full;
  StepQueue queue;
  StepTime decode;
  DecodeLine line;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_OPENLOOP_H
