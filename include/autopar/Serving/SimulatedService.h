//===- SimulatedService.h - What a simulation measured ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_SIMULATEDSERVICE_H
#define AUTOPAR_SERVING_SIMULATEDSERVICE_H

#include "autopar/Serving/SteadyState.h"

#include <string>
#include <vector>

namespace autopar::serving {

struct ServedRequest;
struct SimulatedRun;

/// Of some requests, microseconds.
/// Statistics of times, in us.
struct MeasuredTimes {
  double mean = 0;
  Percentiles at;

  /// Mean and percentiles by nearest rank; zeros where there are no times.
  static MeasuredTimes of(std::vector<double> times);
};

/// From its arrival; from token to token in the mean, nothing of one token.
double ttftUs(const ServedRequest &served);
std::optional<double> tpotUs(const program::Request &request,
                             const ServedRequest &served);

/// What requests of a simulation measured: those from `first` to before `end`.
/// Rates are of the time from the first's arrival to the last's.
/// A summary of a simulation; `counted` of its requests are in the statistics.
struct SimulatedService {
  int64_t requests = 0, counted = 0, steps = 0, evictions = 0;
  /// Simulated time.
  double seconds = 0;
  MeasuredTimes ttft, tpot, request;
  double requestsPerS = 0, outputTokensPerS = 0, shareWithinLimits = 1;
};

/// The summary over the requests from `first` to before `end`.
SimulatedService summarize(const SimulatedRun &run,
                           const program::ServiceLimits &limits, size_t first,
                           size_t end);

/// One line of JSON for each request, in the order of arrivals.
/// A JSON object and line for each request.
std::string writeRequestLines(const SimulatedRun &run);
/// Chrome's trace format, which Perfetto opens: requests by replica, first
/// until their first token, then until their end.
/// A timeline in the Trace Event format, which Perfetto opens.
std::string writeTrace(const SimulatedRun &run);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_SIMULATEDSERVICE_H
