//===- ServingReport.h - A service under load -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_SERVINGREPORT_H
#define AUTOPAR_REPORT_SERVINGREPORT_H

#include "autopar/Program/RequestKnobs.h"
#include "autopar/Program/Workload.h"
#include "autopar/Serving/LoadCurve.h"
#include "autopar/Serving/SimulatedService.h"

#include <memory>

namespace autopar::report {

/// Which requests a simulation uses: `count` random ones, or those of a trace.
struct SimulationChoice {
  int64_t count = 10'000;
  uint64_t seed = 1;
  std::vector<program::Request> trace;
};

/// The results of simulating the requests of a service.
struct SimulationReport {
  /// The seed of the random requests; absent for a trace.
  std::optional<uint64_t> seed;
  serving::SimulatedService service;
  std::shared_ptr<const serving::SimulatedRun> run;
};

/// The steady state of a service under its load. Times are in us.
struct ServiceReport {
  program::Requests requests;
  /// Whether the KV caches of a replica hold one mean request; if not, only
  /// `capacityTokens` is set.
  bool isServed = false;
  /// The number of replicas that decode.
  int64_t replicas = 1;
  int64_t devices = 1;
  /// Tokens for which the KV caches of a decoding replica have room.
  int64_t capacityTokens = 0;
  serving::LoadPoint steady;
  serving::LoadCurve curve;
  /// Cost per million output tokens, if the price or the power is known. The
  /// joules are an upper bound.
  std::optional<double> dollarsPerMillionTokens, joulesPerMillionTokens;
  std::optional<SimulationReport> simulation;

  bool isOpen() const { return requests.concurrency == 0; }
  bool hasLimits() const { return requests.limits.any(); }
  /// Returns the mean number of requests in prefill or decode, over all
  /// replicas.
  double running() const {
    return (steady.state.running + steady.state.prefilling) *
           static_cast<double>(replicas);
  }
  double waiting() const {
    return steady.state.waiting * static_cast<double>(replicas);
  }
  /// Returns the mean share of the KV caches that requests use.
  double cacheShare() const {
    return (steady.state.running * steady.load.contextTokens() +
            steady.state.prefilling * steady.load.promptTokens) /
           static_cast<double>(capacityTokens);
  }
};

/// The steady state of a module that runs both prefill and decode.
struct ServingReport : ServiceReport {
  /// The decode step of the steady state, with an integer number of sequences;
  /// if no request fits, with one sequence per replica.
  program::Workload step;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_SERVINGREPORT_H
