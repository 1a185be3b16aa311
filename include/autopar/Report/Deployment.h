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

/// The transfer of a request's KV caches and states from one module to another
/// after its prefill.
struct LinkReport {
  std::string from, to;
  /// The tokens that the request has in its caches when they are moved.
  int64_t contextLength = 0;
  /// Bytes of all KV caches and of all states of the request, in which each
  /// value counts once.
  int64_t kvBytes = 0, stateBytes = 0;
  /// Bytes of the request on one device of the sending and of the receiving
  /// module.
  int64_t bytesPerSourceDevice = 0, bytesPerDestinationDevice = 0;
  /// Name of the tier of links that joins the devices, on the slower side.
  std::string tier;
  bool destinationBound = false;
  /// Effective bandwidth per direction and device, and latency of one transfer.
  double bandwidthBytesPerS = 0, latencyUs = 0;
  double timeUs = 0;
  /// Time that the sending and the receiving side need; `timeUs` is the longer
  /// one.
  double sendUs = 0, receiveUs = 0;
};

/// Two modules that serve together: one runs prefills, the other decodes.
struct PoolsReport : ServiceReport {
  std::string prefill, decode;
  /// Upper limits of requests per second: of the prefill module, of the decode
  /// module, and of all links.
  double prefillMostPerS = 0, decodeMostPerS = 0, linksPerS = 0;
  /// Time that a request waits for the transfer of its KV caches, without the
  /// part that runs beside the computation of its layers.
  double transferUs = 0;
  /// Mean number of requests in prefill or transfer, over the whole deployment.
  double reading = 0;
};

/// Several modules that serve one model together.
struct DeploymentReport {
  std::string model;
  std::vector<std::pair<std::string, Report>> modules;
  std::vector<LinkReport> links;
  /// The numbers of the service; absent if the deployment states no requests.
  std::optional<PoolsReport> serving;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_DEPLOYMENT_H
