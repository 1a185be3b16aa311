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

/// A pipelined program, and the priced layers that its stages consist of.
struct PipelineParts {
  explicit PipelineParts(const PlanInputs &inputs);

  /// Completes the plan's pipeline and divides the batch of `whole` into
  /// microbatches. Returns an error if it cannot be divided.
  std::optional<Error> prepare(const program::Workload &whole);
  /// Prices every distinct layer and the operations before and after all
  /// layers. Returns an error if the plan is refused.
  std::optional<Error> price();
  /// Returns a pricer of the same layers with the figures of another machine
  /// and runtime. This object must outlive it.
  cost::StagePricer pricerOn(const hardware::Machine &other,
                             const runtime::Runtime &trainer) const {
    return {program, tape,    strategy.launching,
            other,   trainer, plan.memoryUtilization};
  }
  /// Returns the layout of a device that runs each kind of layer as often per
  /// pass as `counts` says.
  cost::Layout layoutOf(const program::PartCounts &counts) const;
  /// Returns the axis along which the devices of consecutive stages lie.
  /// Virtual stages on one device need no axis.
  cost::GroupAxis stageAxis() const {
    std::vector<std::string> axes = plan.axesOf(plan::Degree::pp);
    return {axes.empty() ? 1 : *plan.strideOf(axes.front()), shape.stages};
  }
  /// Returns the inputs for pricing one microbatch.
  PlanInputs inputs() const {
    return {program, plan, machine, runtime, workload};
  }

  /// Returns the kinds of steps that a microbatch consists of, each with its
  /// count.
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
  /// The step of one microbatch and, if prompts are cut, its chunks.
  program::Workload workload;
  std::vector<program::PrefillChunk> chunks;
  /// The layers in order, as indices into `LayerStack::layers`.
  std::vector<uint32_t> order;
};

/// Sets host times and message times in `steps`, from the figures of a machine
/// and a runtime. `pipeline` says which layers each stage has.
std::optional<Error> priceMessages(const PipelineParts &parts,
                                   const report::Report::Pipeline &pipeline,
                                   const hardware::Machine &machine,
                                   const runtime::Runtime &runtime,
                                   cost::PipelineSteps &steps);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_PIPELINEPARTS_H
