//===- PipelineParts.h - What stages are put together from ------*- C++ -*-===//
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

/// A pipelined program, and the parts that its stages are put together from.
struct PipelineParts {
  explicit PipelineParts(const PlanInputs &inputs);

  /// Reads the plan's pipeline and divides the batch of `whole`.
  std::optional<Error> prepare(const program::Workload &whole);
  /// Prices the parts.
  std::optional<Error> price();
  /// Another pricer of them, which they outlive, on other figures.
  cost::StagePricer pricerOn(const hardware::Machine &other,
                             const runtime::Runtime &trainer) const {
    return {program, tape,    strategy.launching,
            other,   trainer, plan.memoryUtilization};
  }
  /// Of a device that runs each layer kind so often in a pass.
  cost::Layout layoutOf(const program::PartCounts &counts) const;
  /// Where the devices that run one stage after the other lie. Virtual stages
  /// of one device need no axis.
  cost::GroupAxis stageAxis() const {
    std::vector<std::string> axes = plan.axesOf(plan::Degree::pp);
    return {axes.empty() ? 1 : *plan.strideOf(axes.front()), shape.stages};
  }
  /// Of one microbatch.
  PlanInputs inputs() const {
    return {program, plan, machine, runtime, workload};
  }

  /// The step of each kind that a microbatch goes through in, and how often.
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
  /// Of one microbatch, and its chunks where there are several.
  program::Workload workload;
  std::vector<program::PrefillChunk> chunks;
  /// The layers, as indices into `LayerStack::layers`.
  std::vector<uint32_t> order;
};

/// Sets what hosts and messages take in `steps`, whose layers are laid out as
/// those of `pipeline`, on the figures of a machine and a runtime.
std::optional<Error> priceMessages(const PipelineParts &parts,
                                   const report::Report::Pipeline &pipeline,
                                   const hardware::Machine &machine,
                                   const runtime::Runtime &runtime,
                                   cost::PipelineSteps &steps);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PIPELINEPARTS_H
