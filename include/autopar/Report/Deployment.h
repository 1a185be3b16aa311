//===- Deployment.h - Several modules: autopar.deployment/1 -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_DEPLOYMENT_H
#define AUTOPAR_REPORT_DEPLOYMENT_H

#include "autopar/Report/Report.h"

namespace autopar::report {

/// What a request moves from one module to another once its prefill is done.
struct LinkReport {
  std::string from, to;
  /// Cached tokens of the request.
  int64_t contextLength = 0;
  /// Of all caches and states, each value once.
  int64_t kvBytes = 0, stateBytes = 0;
  /// What a device holds of it, on either side.
  int64_t bytesPerSourceDevice = 0, bytesPerDestinationDevice = 0;
  /// The tier that joins the devices, on the side that takes longer.
  std::string tier;
  bool destinationBound = false;
  /// One way and device, as a transfer reaches it; latency of one.
  double bandwidthBytesPerS = 0, latencyUs = 0;
  double timeUs = 0;
  /// What it takes on either side; `timeUs` is the longer.
  double sendUs = 0, receiveUs = 0;
};

/// What two modules do together: one reads prompts, the other decodes.
struct PoolsReport : ServiceReport {
  std::string prefill, decode;
  /// Requests that each serves in a second at most, all links together.
  double prefillMostPerS = 0, decodeMostPerS = 0, linksPerS = 0;
  /// What a request waits for its caches beyond what its own layers hide.
  double transferUs = 0;
  /// That are read or move, of the whole deployment.
  double reading = 0;
};

/// Modules that serve one model together.
struct DeploymentReport {
  std::string model;
  std::vector<std::pair<std::string, Report>> modules;
  std::vector<LinkReport> links;
  /// Where the module around them says what they are asked.
  std::optional<PoolsReport> serving;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_DEPLOYMENT_H
