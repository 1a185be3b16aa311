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

/// Everything that the price of a plan depends on.
struct PlanInputs {
  const program::CostProgram &program;
  const plan::Plan &plan;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  const program::Workload &workload;

  const hardware::Pool &pool() const { return machine.pools.front(); }
};

/// Returns the number of tokens that throughput counts per step: output tokens
/// in decode, else all tokens.
Checked tokensOf(const program::Workload &workload);
/// Returns the number of device groups that have sequences of their own.
int64_t replicasOf(const plan::Plan &plan);
/// Returns `runtime` with the prefill chunk (token budget) of the plan, if the
/// plan sets one.
runtime::Runtime runtimeOf(const plan::Plan &plan,
                           const runtime::Runtime &runtime,
                           const program::Workload &workload);
/// Returns the steps into which `inputs.workload` is split if it exceeds the
/// token budget; nothing if one step suffices. Error: too many steps.
Result<std::vector<program::PrefillChunk>> chunksOf(const PlanInputs &inputs,
                                                    int64_t replicas);
/// Returns the layout of the plan's devices for the whole model, on one stage.
cost::Layout layoutOf(const PlanInputs &inputs);
/// Returns the first error that makes it impossible to price the inputs;
/// nothing if there is none.
std::optional<Error> checkInputs(const PlanInputs &inputs);
/// Returns the error message for a refused plan.
Error explainRefusal(const PlanInputs &inputs, const cost::Strategy &strategy,
                     const cost::ExactValues &values, cost::Refusal refusal);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PLANINPUTS_H
