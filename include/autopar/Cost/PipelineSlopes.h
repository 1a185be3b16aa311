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

/// A priced pipeline.
struct PricedPipeline {
  const program::CostProgram &program;
  /// A strategy with `Counting::parts`.
  const Strategy &strategy;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  const PricedLayers &layers;
  const PipelineSteps &steps;
  const std::vector<uint32_t> &order;
  /// Message sizes that belong to `steps.transferPs`.
  std::vector<double> transferBytes;
  /// Layout of the devices of one stage, and the axis on which stages lie.
  Layout layout;
  GroupAxis devices;
};

/// Slopes of the step time, in the order of `sensitivity`: the sum of the
/// slopes of layers, transfers and hosts along the critical path of the
/// schedule. `sensitivity` has the same strategy; its layout is changed.
std::vector<Slope> slopesOfStep(const PricedPipeline &pipeline,
                                Sensitivity &sensitivity);

} // namespace autopar::cost

#endif // AUTOPAR_COST_PIPELINESLOPES_H
