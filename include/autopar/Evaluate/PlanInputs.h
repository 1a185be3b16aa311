//===- PlanInputs.h - Inputs for the price of a plan ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_PLANINPUTS_H
#define AUTOPAR_EVALUATE_PLANINPUTS_H

#include "autopar/Cost/Exact.h"
#include "autopar/Hardware/Hardware.h"
#include "autopar/Plan/Plan.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Workload.h"
#include "autopar/Runtime/Runtime.h"

namespace autopar::evaluation {

/// The inputs for the price of a plan.
struct PlanInputs {
  const program::CostProgram &program;
  const plan::Plan &plan;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  const program::Workload &workload;

  const hardware::Pool &pool() const { return machine.pools.front(); }
};

/// Tokens that throughput counts: output tokens in decode, else all.
Checked tokensOf(const program::Workload &workload);
/// Groups of devices that have sequences of their own.
int64_t replicasOf(const plan::Plan &plan);
/// Returns `runtime` with the prefill chunk of the plan, if it sets one.
runtime::Runtime runtimeOf(const plan::Plan &plan,
                           const runtime::Runtime &runtime,
                           const program::Workload &workload);
/// The steps of `inputs.workload` if it exceeds the token budget, else none.
/// Errors: too many steps.
Result<std::vector<program::PrefillChunk>> chunksOf(const PlanInputs &inputs,
                                                    int64_t replicas);
/// The layout of the plan's devices, with the stages and parts of the whole
/// model.
cost::Layout layoutOf(const PlanInputs &inputs);
/// Returns the first error that makes the inputs unpriceable.
std::optional<Error> checkInputs(const PlanInputs &inputs);
/// Explains why a plan was refused.
Error explainRefusal(const PlanInputs &inputs, const cost::Strategy &strategy,
                     const cost::ExactValues &values, cost::Refusal refusal);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PLANINPUTS_H
