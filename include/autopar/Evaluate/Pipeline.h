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

/// Why no pipeline serves requests: the passes that would write such a module,
/// and the estimate of one that was written by hand, refuse it alike.
Error requestsOverStages();

/// What is not said about a pipeline: interleave 1; schedule `inference`, of
/// training `one_f_one_b`, or `interleaved` where it interleaves; as many
/// microbatches as divide the batch, at most one for each device of pp, of
/// training for each sequence of a replica.
plan::PipelinePlan completePipeline(const plan::Plan &plan,
                                    const program::Workload &workload);

/// The layers of `program` to be laid over axis `pp` of `plan`, whose pipeline
/// has its interleave and microbatches: the time of a microbatch, without the
/// host's; weights, caches and states of the whole batch. The memory limit is
/// what the runtime's share leaves beside temporaries. Errors: those of
/// `evaluate`; microbatches that do not divide the batch.
Result<schedule::StagingProblem>
stagingProblem(const program::CostProgram &program, const plan::Plan &plan,
               const hardware::Machine &machine,
               const runtime::Runtime &runtime,
               const program::Workload &workload);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PIPELINE_H
