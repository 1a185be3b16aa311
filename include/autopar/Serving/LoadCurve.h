//===- LoadCurve.h - Times of a service over its load -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_LOADCURVE_H
#define AUTOPAR_SERVING_LOADCURVE_H

#include "autopar/Serving/SteadyState.h"

#include <functional>
#include <vector>

namespace autopar::serving {

struct ServingRefusal;

struct LoadPoint {
  ServedLoad load;
  SteadyState state;

  /// Throughput, requests per second.
  double requestsPerS() const {
    return state.outputTokensPerSecond / load.answerTokens;
  }
  /// Throughput of requests within the limits.
  double goodputPerS() const {
    return requestsPerS() * state.shareWithinLimits;
  }
  /// Mean time of a request: its last token is not held back for sending.
  double requestUs() const {
    return state.ttftUs - state.firstToken.sendUs +
           load.decodedTokens() * state.tpotUs;
  }
};

/// Times of a service at growing load.
struct LoadCurve {
  /// Open loop: up to 95 % of the saturation rate. Closed loop: until all
  /// requests that have room run. The load that was asked about is one of them,
  /// where it lies among them.
  std::vector<LoadPoint> points;
  std::optional<size_t> asked;
  /// Index of the point with the greatest throughput over request time
  /// (Kleinrock 1979, "Power and deterministic rules of thumb").
  size_t knee = 0;
  /// The most load of whose requests a share of `attainment` is within limits;
  /// absent where no load is, or where there are no limits.
  std::optional<LoadPoint> mostWithinLimits;

  /// The share of DistServe (arXiv 2401.09670, section 2).
  static constexpr double attainment = 0.9;
};

/// A service as a function of its load.
struct LoadedService {
  std::function<ServingRefusal(const ServedLoad &, SteadyState &)> serve;
  /// Closed loop: fewer requests leave replicas idle, more wait.
  double leastAtOnce = 1, mostAtOnce = 1;
};

/// Finds the curve around `asked`, whose state is known.
ServingRefusal findLoadCurve(const LoadedService &service,
                             const LoadPoint &asked, LoadCurve &curve);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_LOADCURVE_H
