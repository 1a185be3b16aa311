//===- Services.h - What a service does -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_SERVICES_H
#define AUTOPAR_EVALUATE_SERVICES_H

#include "autopar/Evaluate/PlanInputs.h"
#include "autopar/Program/Question.h"
#include "autopar/Report/Report.h"

namespace autopar::evaluation {

struct EvaluatedService {
  report::ServingReport serving;
  /// What the encoder takes of one request whose steps encode no other, in us.
  double encoderUs = 0;
};

/// What `program` does under `plan` where the requests of `service` come; a
/// simulation of it where there is a `choice`. Errors: those of a step of one
/// request for each replica; stages; a simulated request that no KV cache
/// holds. Requests that none holds in the mean are no error.
Result<EvaluatedService>
evaluateService(const program::CostProgram &program, const plan::Plan &plan,
                const hardware::Machine &machine,
                const runtime::Runtime &runtime,
                const program::Service &service,
                const report::SimulationChoice *choice = nullptr);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_SERVICES_H
