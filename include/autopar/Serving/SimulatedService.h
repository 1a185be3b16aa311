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

/// Mean and percentiles of the times of some requests, in us.
struct MeasuredTimes {
  double mean = 0;
  Percentiles at;

  /// Computes mean and percentiles (by nearest rank); all are 0 if there are no
  /// times.
  static MeasuredTimes of(std::vector<double> times);
};

/// `ttftUs`: time from a request's arrival to its first token, in us. `tpotUs`:
/// mean time from token to token, in us; nothing for an answer of one token.
double ttftUs(const ServedRequest &served);
std::optional<double> tpotUs(const program::Request &request,
                             const ServedRequest &served);

/// The summary of a simulation: `counted` of its `requests` are in the
/// statistics. Rates refer to the time from the arrival of the first of these
/// to that of the last.
struct SimulatedService {
  int64_t requests = 0, counted = 0, steps = 0, evictions = 0;
  /// The time in s that was simulated.
  double seconds = 0;
  MeasuredTimes ttft, tpot, request;
  double requestsPerS = 0, outputTokensPerS = 0, shareWithinLimits = 1;
};

/// Returns the summary of the requests from index `first` to before `end`.
SimulatedService summarize(const SimulatedRun &run,
                           const program::ServiceLimits &limits, size_t first,
                           size_t end);

/// Writes one line of JSON for each request, in the order of arrivals.
std::string writeRequestLines(const SimulatedRun &run);
/// Writes a timeline in Chrome's trace format, which Perfetto opens: for each
/// replica its requests, first until their first token, then until their end.
std::string writeTrace(const SimulatedRun &run);

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_SIMULATEDSERVICE_H
