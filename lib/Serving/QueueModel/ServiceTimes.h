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

/// Wait for room in the KV caches: a `share` of the requests waits, for an
/// exponential time.
struct Waiting {
  double share = 0;
  /// Mean over all requests, in us.
  double meanUs = 0;
};

/// P(a request waits) where up to `servers` requests are served at once:
/// `occupancy(n)` is the utilisation with n of them, `used` that with all. The
/// servers are a queue of a product-form network, which depends on mean service
/// times alone (Baskett, Chandy, Muntz and Palacios 1975, DOI
/// 10.1145/321879.321887).
template <typename Occupancy>
double shareThatWaits(double servers, Occupancy occupancy, double used) {
  // Below 1e-12 of the sum, all further terms are without digits; beyond 1e100
  // terms are scaled, as only their ratios count.
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

/// Moments of the times of requests, in us. Distributions are log-normal.
struct ServiceTimes {
  FirstTokenTime first;
  Waiting waiting;
  /// Mean time from token to token of a request, and time of a whole request.
  TimeMoments token, request;

  /// Sets `token` and `request` from the means of `state`. A request is as slow
  /// as the steps it meets (`stepVariance`: variance of their mean times their
  /// number, in us^2) and as the number of others, each of which adds
  /// `growthUs`.
  void spread(const ServedLoad &load, const SteadyState &state,
              double stepVariance, double growthUs);
  /// Sets the percentiles of `state`, and the share of requests within
  /// `limits`.
  void fill(const program::ServiceLimits &limits, SteadyState &state) const;
};

/// What the server takes outside of the steps of a prompt (Q6): on the host,
/// until the engine looks for it, and until the first token is sent. `streams`
/// answers are sent meanwhile, and a step runs at the arrival with the
/// probability `busy`. Adds the means to the parts of `state`.
TimeMoments outsideSteps(const RequestHost &host, const ServedLoad &load,
                         double streams, double busy, SteadyState &state);

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_SERVICETIMES_H
