//===- PipelineSlopes.h - Sensitivity of a pipeline's step ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_PIPELINESLOPES_H
#define AUTOPAR_COST_PIPELINESLOPES_H

#include "autopar/Cost/PipelineTimes.h"
#include "autopar/Cost/Sensitivity.h"

namespace autopar::cost {

/// A pipeline whose layers have been priced, and the inputs of these prices.
struct PricedPipeline {
  const program::CostProgram &program;
  /// The strategy, compiled with `Counting::parts`.
  const Strategy &strategy;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  const PricedLayers &layers;
  const PipelineSteps &steps;
  const std::vector<uint32_t> &order;
  /// Bytes of each message whose time is in `steps.transferPs`, with the same
  /// index.
  std::vector<double> transferBytes;
  /// The mesh of the devices of one stage, and the axis along which the stages
  /// lie.
  Layout layout;
  GroupAxis devices;
};

/// Returns the slope of the step time with each figure of `sensitivity`, in its
/// order: the sum of the slopes of the layers, transfers and host times on the
/// critical path of the schedule. `sensitivity` must have the same strategy;
/// this function changes its layout.
std::vector<Slope> slopesOfStep(const PricedPipeline &pipeline,
                                Sensitivity &sensitivity);

} // namespace autopar::cost

#endif // AUTOPAR_COST_PIPELINESLOPES_H
