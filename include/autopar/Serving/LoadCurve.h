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

  /// Returns the throughput in requests per second.
  double requestsPerS() const {
    return state.outputTokensPerSecond / load.answerTokens;
  }
  /// Returns the throughput of requests that meet the latency limits, per
  /// second.
  double goodputPerS() const {
    return requestsPerS() * state.shareWithinLimits;
  }
  /// Returns the mean time of a request in us, from its arrival to its last
  /// token; the last token is not held back for sending.
  double requestUs() const {
    return state.ttftUs - state.firstToken.sendUs +
           load.decodedTokens() * state.tpotUs;
  }
};

/// The times of a service at growing load.
struct LoadCurve {
  /// The points by growing load. Open loop: up to 95 % of the saturation rate.
  /// Closed loop: until all requests run for which there is memory. If the load
  /// that the user asked about lies in this range, it is one of the points:
  /// `asked` is its index.
  std::vector<LoadPoint> points;
  std::optional<size_t> asked;
  /// Index of the point with the greatest throughput over request time
  /// (Kleinrock 1979, "Power and deterministic rules of thumb").
  size_t knee = 0;
  /// The largest load at which a share `attainment` of the requests meets the
  /// latency limits; absent if there is no such load, or if there are no
  /// limits.
  std::optional<LoadPoint> mostWithinLimits;

  /// The share of requests that must meet the limits, as in DistServe (arXiv
  /// 2401.09670, section 2).
  static constexpr double attainment = 0.9;
};

/// A service as a function of its load.
struct LoadedService {
  std::function<ServingRefusal(const ServedLoad &, SteadyState &)> serve;
  /// Closed loop: the range of concurrent requests that is worth computing.
  /// With fewer, replicas idle; with more, requests wait.
  double leastAtOnce = 1, mostAtOnce = 1;
};

/// Computes the curve around the point `asked`, whose state is known.
ServingRefusal findLoadCurve(const LoadedService &service,
                             const LoadPoint &asked, LoadCurve &curve);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_LOADCURVE_H
