//===- PipelineSlopes.h - What the step of a pipeline rests on --*- C++ -*-===//
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

/// A pipeline that was priced.
struct PricedPipeline {
  const program::CostProgram &program;
  /// That counts parts.
  const Strategy &strategy;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  const PricedLayers &layers;
  const PipelineSteps &steps;
  const std::vector<uint32_t> &order;
  /// Bytes of what `steps.transferPs` take.
  std::vector<double> transferBytes;
  /// Where the devices of one stage lie, and where its stages do.
  Layout layout;
  GroupAxis devices;
};

/// Slopes of the time of a step, as those of `sensitivity`: along the critical
/// path of the schedule, the sum of those of layers, transfers and hosts. The
/// sensitivity is of the same strategy, and laid anew.
std::vector<Slope> slopesOfStep(const PricedPipeline &pipeline,
                                Sensitivity &sensitivity);

} // namespace autopar::cost

#endif // AUTOPAR_COST_PIPELINESLOPES_H
