//===- Passes.td - Passes that stage layers ---------------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_STAGE_PASSES_TD
#define AUTOPAR_TRANSFORMS_STAGE_PASSES_TD

include "autopar/Transforms/PassClasses.td"

def StagePipelinePass : ModulePass<"autopar-stage-pipeline"> {
  let summary = "lays the layers over pipeline stages";
  let description = [{
    Adds `parallel.stages` over the axis `pp` of the mesh, in place of one that is
    there. Without `stages`, layers are balanced by what they cost on the
    machine: the heaviest device gets as little as can be, with what lies before
    and after the layers, and no device more memory than the runtime's share. A
    warning says where that memory is not enough; layers are then balanced by
    time alone. Where a number of layers of each stage is made again
    (`training.iteration .. recompute(full first 8)`), stages have equal numbers of
    layers.

    Requires a mesh with an axis `pp`, a size for each axis, a workload, and no
    `parallel.reshard`: it comes last. A module that trains may do without the
    axis: it has one stage, and `training.microbatches` says what goes through.

    ```mlir
    // autopar-stage-pipeline{microbatches=4}
    parallel.mesh @mesh(pp = 2, tp = 8)
    parallel.stages over [pp] layers [0 to 40, 41 to 79] schedule("inference") microbatches(4)
    ```
  }];
  let options = [
    Option<"stages", "stages", "std::string", "\"\"",
           "Layers of each virtual stage, 0-19,20-40,... (default: by cost)">,
    Option<"interleave", "interleave", "int64_t", "0",
           "Virtual stages per device (default: 1)">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "gpipe, one_f_one_b, interleaved, zero_bubble, dual_pipe, inference "
           "(default: inference, or interleaved)">,
    Option<"microbatches", "microbatches", "int64_t", "0",
           "Microbatches of the batch (default: its largest divisor up to the "
           "number of stages)">,
    Option<"microBatch", "micro-batch", "int64_t", "0",
           "Sequences of a replica in one microbatch, instead of their number "
           "(default in training: 1)">,
  ];
  let dependentDialects = ["::autopar::parallel::ParallelDialect"];
}

#endif // AUTOPAR_TRANSFORMS_STAGE_PASSES_TD
