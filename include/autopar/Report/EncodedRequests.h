//===- EncodedRequests.h - Requests with images, audio, text ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_ENCODEDREQUESTS_H
#define AUTOPAR_REPORT_ENCODEDREQUESTS_H

#include "autopar/Report/Evaluate.h"

namespace autopar::report {

/// Requests of which each has positions that an encoder encodes once, in the
/// steps that prefill its prompt, and that cross attention then sees.
struct EncodedRequests : program::Requests {
  int64_t encoderTokens = 0, crossTokens = 0;
};

struct EncodedService {
  ServingReport serving;
  /// What the encoder takes of one request whose steps encode no other, in us.
  double encoderUs = 0;
};

/// As `evaluateServing` of requests that have text alone.
Result<EncodedService> evaluateServing(const program::CostProgram &program,
                                       const plan::Plan &plan,
                                       const hardware::Machine &machine,
                                       const runtime::Runtime &runtime,
                                       const EncodedRequests &requests,
                                       const SimulationChoice *choice);

} // namespace autopar::report

#endif // AUTOPAR_REPORT_ENCODEDREQUESTS_H
