//===- Assumptions.h - What the numbers of a report take for granted ---*- C++
//-*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EXPLAIN_ASSUMPTIONS_H
#define AUTOPAR_EXPLAIN_ASSUMPTIONS_H

#include "autopar/Evaluate/EvaluatedPipeline.h"
#include "autopar/Program/Question.h"

namespace autopar::explanation {

using Assumptions = std::vector<report::Assumption>;

Assumptions assumptionsOf(const evaluation::EvaluatedStep &step);
Assumptions assumptionsOf(const evaluation::EvaluatedPipeline &pipeline);
Assumptions assumptionsOf(const report::ServingReport &service);
/// Returns assumptions about speculative decoding, and about inputs of requests
/// other than text, whose encoder takes `encoderUs` us per request.
Assumptions assumptionsOf(const program::CostProgram &program,
                          const program::Service &service, double encoderUs);

} // namespace autopar::explanation

#endif // AUTOPAR_EXPLAIN_ASSUMPTIONS_H
