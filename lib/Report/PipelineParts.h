//===- PipelineParts.h - What stages are put together from ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_PIPELINEPARTS_H
#define AUTOPAR_LIB_REPORT_PIPELINEPARTS_H

#include "Reading.h"

#include "autopar/Cost/PipelineTimes.h"
#include "autopar/Program/Stages.h"

namespace autopar::report {

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
                                   const Report::Pipeline &pipeline,
                                   const hardware::Machine &machine,
                                   const runtime::Runtime &runtime,
                                   cost::PipelineSteps &steps);

/// What a report of a pipeline was put together from.
struct PipelineStages {
  std::vector<const Report *> byDevice;
  /// The stage that holds the most, and that whose caches are full first.
  int64_t fullest = 0, scarcest = 0;
  /// Whether backwards are as many forwards as is usual.
  bool assumesBackwards = false;
};

/// Fills the derivations of `report`, which has those of the whole model, from
/// those of the stages.
void explainPipeline(const PipelineParts &parts, const PipelineStages &stages,
                     Report &report);

/// The impacts of a pipeline whose parts are priced, on the step of `steps` and
/// on what the two stages hold that say how much fits.
std::vector<Impact> impactsOf(const PipelineParts &parts,
                              const cost::PipelineSteps &steps,
                              const std::vector<Report::Transfer> &transfers,
                              const cost::Layout &fullest,
                              const cost::Layout &scarcest);

} // namespace autopar::report

#endif // AUTOPAR_LIB_REPORT_PIPELINEPARTS_H
