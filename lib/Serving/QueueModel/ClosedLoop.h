//===- ClosedLoop.h - A fixed number of requests at once --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_CLOSEDLOOP_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_CLOSEDLOOP_H

#include "EngineSteps.h"
#include "ServiceTimes.h"

namespace autopar::serving {

/// Models a closed loop (docs/serving.md, "Closed loop"): each request that
/// ends is followed by another one, so that while a request answers, each of
/// the other requests is replaced once.
class ClosedLoop {
public:
  /// `state` gives the requests of a replica that run and that wait. All
  /// arguments must outlive the object.
  ClosedLoop(StepPrices &prices, const runtime::Runtime &runtime,
             const RequestHost &host, const ServedLoad &load,
             SteadyState &state)
      : prices(prices), runtime(runtime), host(host), load(load), state(state) {
  }

  ServingRefusal run();

private:
  double mostPerStep() const;
  double promptsPerStep() const;
  double runningOthers() const;
  double leastPrefillUs() const;
  double placeUs(double prefillUs) const;
  double untilStepEndsUs() const;
  double answerUs() const { return load.decodedTokens() * state.tpotUs; }
  void setThroughput();
  ServingRefusal priceSteps();
  ServingRefusal burst(double running, double &us);
  ServingRefusal findMeans();
  ServingRefusal findFirst(FirstTokenTime &first, StepQueue &queue);
  ServingRefusal findSpread();

  StepPrices &prices;
  const runtime::Runtime &runtime;
  const RequestHost &host;
  const ServedLoad &load;
  SteadyState &state;
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_CLOSEDLOOP_H
