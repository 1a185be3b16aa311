//===- LoadCurve.h - What a deployment does as load grows -------*- C++ -*-===//
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

  /// That are served in a second.
  double requestsPerS() const {
    return state.outputTokensPerSecond / load.answerTokens;
  }
  /// Of those, the ones within limits.
  double goodputPerS() const {
    return requestsPerS() * state.shareWithinLimits;
  }
  /// Tokens are sent late, and an answer ends with its last one.
  double requestUs() const {
    return state.ttftUs - state.firstToken.sendUs +
           load.decodedTokens() * state.tpotUs;
  }
};

/// Of requests that are alike, more and more of them.
struct LoadCurve {
  /// An open loop's up to 95 % of the rate at which it saturates, a closed
  /// one's until all that have room run. The load that was asked about is one
  /// of them, where it lies there.
  std::vector<LoadPoint> points;
  std::optional<size_t> asked;
  /// The point where throughput over the time of a request is greatest
  /// (Kleinrock 1979, "Power and deterministic rules of thumb").
  size_t knee = 0;
  /// The most load of which `attainment` is within limits; nothing where no
  /// load is, or nothing limits it.
  std::optional<LoadPoint> mostWithinLimits;

  /// As in DistServe (arXiv 2401.09670, section 2).
  static constexpr double attainment = 0.9;
};

/// What serves loads.
struct LoadedService {
  std::function<ServingRefusal(const ServedLoad &, SteadyState &)> serve;
  /// Of a closed loop: fewer would leave replicas idle, more would wait.
  double leastAtOnce = 1, mostAtOnce = 1;
};

/// `asked` has been served.
ServingRefusal findLoadCurve(const LoadedService &service,
                             const LoadPoint &asked, LoadCurve &curve);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_LOADCURVE_H
