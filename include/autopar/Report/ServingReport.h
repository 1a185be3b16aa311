//===- ServingReport.h - What a service does under load ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_SERVINGREPORT_H
#define AUTOPAR_REPORT_SERVINGREPORT_H

#include "autopar/Program/Requests.h"
#include "autopar/Program/Workload.h"
#include "autopar/Serving/LoadCurve.h"
#include "autopar/Serving/SimulatedService.h"

#include <memory>

namespace autopar::report {

/// What is simulated of requests: `count` that are drawn, or those of a trace.
struct SimulationChoice {
  int64_t count = 10'000;
  uint64_t seed = 1;
  std::vector<program::Request> trace;
};

/// What a simulation says beside the steady state.
struct SimulationReport {
  /// Nothing of a trace.
  std::optional<uint64_t> seed;
  serving::SimulatedService service;
  std::shared_ptr<const serving::SimulatedRun> run;
};

/// The steady state of a service under its requests. Times are microseconds.
struct ServiceReport {
  program::Requests requests;
  /// Whether the KV caches of a replica hold one request in the mean; if not,
  /// only `capacityTokens` says anything.
  bool isServed = false;
  /// That decode.
  int64_t replicas = 1;
  int64_t devices = 1;
  /// Of a replica that decodes.
  int64_t capacityTokens = 0;
  serving::LoadPoint steady;
  serving::LoadCurve curve;
  /// For a million tokens of output; where a price, a power is known. Joules
  /// are at most so many.
  std::optional<double> dollarsPerMillionTokens, joulesPerMillionTokens;
  std::optional<SimulationReport> simulation;

  bool isOpen() const { return requests.concurrency == 0; }
  bool hasLimits() const { return requests.limits.any(); }
  /// Of all replicas: that are read or decode.
  double running() const {
    return (steady.state.running + steady.state.reading) *
           static_cast<double>(replicas);
  }
  double waiting() const {
    return steady.state.waiting * static_cast<double>(replicas);
  }
  /// Of the KV caches, that requests hold in the mean.
  double cacheShare() const {
    return (steady.state.running * steady.load.contextTokens() +
            steady.state.reading * steady.load.promptTokens) /
           static_cast<double>(capacityTokens);
  }
};

/// What a module does that reads prompts and decodes.
struct ServingReport : ServiceReport {
  /// The step that decodes then, of whole sequences; of one on each replica
  /// where none is served.
  program::Workload step;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_SERVINGREPORT_H
