//===- Pipeline.h - Layers on pipeline stages, priced -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_PIPELINE_H
#define AUTOPAR_EVALUATE_PIPELINE_H

#include "autopar/Evaluate/PlanInputs.h"
#include "autopar/Schedule/Staging.h"

namespace autopar::evaluation {

/// Returns the error for a service on a pipeline. Passes use it when they would
/// write such a module, and the estimate uses it for one that was written by
/// hand.
Error requestsOverStages();

/// Returns the pipeline of `plan` with defaults for missing fields: interleave
/// 1; schedule `inference`, for training `one_f_one_b`, or `interleaved` if
/// interleave is above 1; the largest number of microbatches that divides the
/// batch and is at most the number of stages or, in training, the sequences of
/// a replica.
plan::PipelinePlan completePipeline(const plan::Plan &plan,
                                    const program::Workload &workload);

/// Returns the problem of dividing the layers of `program` over axis `pp` of
/// `plan`, whose pipeline must be complete. A layer has the time of one
/// microbatch, without host time, and the weights, KV caches and states of the
/// whole batch. The memory limit is the runtime's share minus temporaries.
/// Errors: those of `evaluate`; microbatches that do not divide the batch.
Result<schedule::StagingProblem>
stagingProblem(const program::CostProgram &program, const plan::Plan &plan,
               const hardware::Machine &machine,
               const runtime::Runtime &runtime,
               const program::Workload &workload);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PIPELINE_H
