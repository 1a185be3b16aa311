//===- ServiceTimes.h - Distributions of the times of requests --*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_SERVICETIMES_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_SERVICETIMES_H

#include "TimeMoments.h"
#include "autopar/Serving/RequestHost.h"
#include "autopar/Serving/SteadyState.h"

#include <cstdint>

namespace autopar::serving {

/// The wait for room in the KV caches: a share `share` of the requests waits,
/// each for an exponentially distributed time.
struct Waiting {
  double share = 0;
  /// The mean wait over all requests, in us.
  double meanUs = 0;
};

/// Returns the probability that a request waits if up to `servers` requests are
/// served at once. `occupancy(n)` is the utilisation with n requests, `used`
/// that with all. The servers are a queue of a product-form network, which
/// depends only on mean service times (Baskett, Chandy, Muntz and Palacios
/// 1975, DOI 10.1145/321879.321887).
template <typename Occupancy>
double shareThatWaits(double servers, Occupancy occupancy, double used) {
  // Terms below 1e-12 of the sum do not change its digits. Terms beyond 1e100
  // are scaled, because only their ratios count.
  constexpr double smallestTerm = 1e-12, largestTerm = 1e100;
  double last = 1, fewer = 0;
  auto places = static_cast<int64_t>(servers);
  for (int64_t count = 1; count <= places; ++count) {
    fewer += last;
    last *= occupancy(static_cast<double>(count));
    if (last < smallestTerm * fewer)
      return 0;
    if (last > largestTerm) {
      fewer /= last;
      last = 1;
    }
  }
  double all = last / (1 - used);
  return all / (fewer + all);
}

/// The moments of the times of requests, in us. The distributions are
/// log-normal.
struct ServiceTimes {
  FirstTokenTime first;
  Waiting waiting;
  /// The moments of the mean time from token to token of a request, and of the
  /// time of a whole request.
  TimeMoments token, request;

  /// Sets `token` and `request` from the means in `state`. A request is slow if
  /// the steps that it meets are slow (`stepVariance` is the variance of their
  /// mean times their number, in us^2) and if there are many other requests,
  /// each of which adds `growthUs`.
  void spread(const ServedLoad &load, const SteadyState &state,
              double stepVariance, double growthUs);
  /// Sets the percentiles of `state`, and the share of requests that are within
  /// `limits`.
  void fill(const program::ServiceLimits &limits, SteadyState &state) const;
};

/// Returns the moments of the time that a prompt spends on the server outside
/// of its steps (Q6): on the host, until the engine looks for the prompt, and
/// until the first token is sent. Meanwhile `streams` answers are sent, and a
/// step runs at the arrival with the probability `busy`. The means are added to
/// the parts of `state`.
TimeMoments outsideSteps(const RequestHost &host, const ServedLoad &load,
                         double streams, double busy, SteadyState &state);

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_SERVICETIMES_H
