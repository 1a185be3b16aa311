//===- Services.h - Evaluates a service under load --------------*- C++ -*-===//
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
  /// Time in us that the encoder takes for one request, if it encodes no other
  /// one in the same step.
  double encoderUs = 0;
};

/// Evaluates `program` under `plan` as a service with the load `service`, and
/// simulates it if `choice` is not null. Errors: those of a step with one
/// request per replica; pipeline stages; a simulated request that no KV cache
/// holds. A mean request that no KV cache holds is not an error.
Result<EvaluatedService>
evaluateService(const program::CostProgram &program, const plan::Plan &plan,
                const hardware::Machine &machine,
                const runtime::Runtime &runtime,
                const program::Service &service,
                const report::SimulationChoice *choice = nullptr);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_SERVICES_H
