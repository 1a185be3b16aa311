//===- PipelineParts.h - The parts that stages consist of -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_PIPELINEPARTS_H
#define AUTOPAR_EVALUATE_PIPELINEPARTS_H

#include "autopar/Evaluate/EvaluatedStep.h"

#include "autopar/Cost/PipelineTimes.h"
#include "autopar/Program/Stages.h"

namespace autopar::evaluation {

/// A pipelined program, and the priced parts of its stages.
struct PipelineParts {
  explicit PipelineParts(const PlanInputs &inputs);

  /// Completes the plan's pipeline and divides the batch of `whole` into
  /// microbatches.
  std::optional<Error> prepare(const program::Workload &whole);
  /// Prices the parts.
  std::optional<Error> price();
  /// Returns another pricer of the parts, with other figures. The parts must
  /// outlive it.
  cost::StagePricer pricerOn(const hardware::Machine &other,
                             const runtime::Runtime &trainer) const {
    return {program, tape,    strategy.launching,
            other,   trainer, plan.memoryUtilization};
  }
  /// The layout of a device that runs `counts` of the parts per pass.
  cost::Layout layoutOf(const program::PartCounts &counts) const;
  /// The axis on which the devices of consecutive stages lie. Virtual stages of
  /// one device need no axis.
  cost::GroupAxis stageAxis() const {
    std::vector<std::string> axes = plan.axesOf(plan::Degree::pp);
    return {axes.empty() ? 1 : *plan.strideOf(axes.front()), shape.stages};
  }
  /// Inputs for one microbatch.
  PlanInputs inputs() const {
    return {program, plan, machine, runtime, workload};
  }

  /// The steps of a microbatch: each kind with its number.
  std::vector<program::PrefillChunk> steps() const {
    return chunks.empty() ? std::vector<program::PrefillChunk>{{workload, 1}}
                          : chunks;
  }

  std::optional<Error> cutPrompts();

  const program::CostProgram &program;
  const plan::Plan &plan;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  cost::Strategy strategy;
  cost::Tape tape;
  cost::StagePricer pricer;
  cost::PipelineShape shape;
  /// The step of one microbatch, and its chunks if there are several.
  program::Workload workload;
  std::vector<program::PrefillChunk> chunks;
  /// Layers in order, as indices into `LayerStack::layers`.
  std::vector<uint32_t> order;
};

/// Sets the times of hosts and messages in `steps`, whose layers are laid out
/// as in `pipeline`, by the figures of a machine and a runtime.
std::optional<Error> priceMessages(const PipelineParts &parts,
                                   const report::Report::Pipeline &pipeline,
                                   const hardware::Machine &machine,
                                   const runtime::Runtime &runtime,
                                   cost::PipelineSteps &steps);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PIPELINEPARTS_H
