//===- PlanInputs.h - What a plan is priced with ----------------*- C++ -*-===//
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

/// What a plan is priced with.
struct PlanInputs {
  const program::CostProgram &program;
  const plan::Plan &plan;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  const program::Workload &workload;

  const hardware::Pool &pool() const { return machine.pools.front(); }
};

/// Tokens of the throughput: of the output in decode, else all.
Checked tokensOf(const program::Workload &workload);
/// Groups of devices that have sequences of their own.
int64_t replicasOf(const plan::Plan &plan);
/// `runtime` with the chunks of prompts that the plan asks for.
runtime::Runtime runtimeOf(const plan::Plan &plan,
                           const runtime::Runtime &runtime,
                           const program::Workload &workload);
/// The steps that `inputs.workload` takes where it takes several; else none.
/// Errors: too many of them.
Result<std::vector<program::PrefillChunk>> chunksOf(const PlanInputs &inputs,
                                                    int64_t replicas);
/// Where the devices of the plan lie. Stages and parts are those of the whole.
cost::Layout layoutOf(const PlanInputs &inputs);
/// The error of the first thing that keeps the inputs from being priced.
std::optional<Error> checkInputs(const PlanInputs &inputs);
/// Says why a plan was refused.
Error explainRefusal(const PlanInputs &inputs, const cost::Strategy &strategy,
                     const cost::ExactValues &values, cost::Refusal refusal);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PLANINPUTS_H
