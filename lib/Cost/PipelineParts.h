//===- PipelineParts.h - What stages are put together from ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_PIPELINEPARTS_H
#define AUTOPAR_LIB_COST_PIPELINEPARTS_H

#include "Evaluation.h"

#include "autopar/Program/Stages.h"

namespace autopar {

/// A layer, or what lies before or after all layers, on a device of its own.
struct PipelinePart {
  /// Without the host's time; with what the whole batch keeps.
  LayerCost cost;
  Picoseconds communicationPs = 0;
  int64_t activationBytes = 0, runtimeBytes = 0;
};

/// What device `device` of axis `pp` runs of each microbatch, by the stages of
/// `plan`; `order` are the layers of `program`. Of dual_pipe it runs half of
/// the microbatches, of which as many come from either end. `borders`: runs are
/// launched with those that follow them across layers.
PartCounts countsOf(const CostProgram &program, const Plan &plan,
                    const std::vector<uint32_t> &order, int64_t device,
                    bool borders);

/// The parts of a pipelined program, priced.
struct PipelineParts {
  PipelineParts(const CostProgram &program, const Plan &plan,
                const Machine &machine, const Runtime &runtime)
      : program(program), plan(plan), machine(machine), runtime(runtime) {}

  /// Whether a device has two stages, each for half of the microbatches.
  bool isFolded() const {
    return plan.pipeline.schedule == ScheduleKind::dual_pipe;
  }
  /// Whether a device has the first stage and the last.
  bool hasBothEnds() const { return stages == 1 || isFolded(); }
  /// Reads the plan's pipeline and divides the batch of `whole`.
  std::optional<Error> prepare(const Workload &whole);
  /// Fills `layers`, `before` and `after`.
  std::optional<Error> addParts();
  StagingProblem problem() const;

  /// What a device costs that runs each layer kind so often in a pass.
  Result<Report> price(const PartCounts &counts, bool explain) const;

  const CostProgram &program;
  const Plan &plan;
  const Machine &machine;
  const Runtime &runtime;
  /// Of one microbatch.
  Workload workload;
  int64_t stages = 1, microbatches = 1;
  /// How often a device runs each of its layers: for each microbatch or, where
  /// it has two stages, for half of them.
  int64_t passes = 1;
  /// The layers, as indices into `LayerStack::layers`.
  std::vector<uint32_t> order;
  /// What `partOf` has the indices of, for each of `order`.
  std::vector<PipelinePart> layers;
  std::vector<uint32_t> partOf;
  /// Also what lies at both ends, where one device has them.
  PipelinePart before, after, ends;
  int64_t budgetBytes = 0;

private:
  void addPlace(size_t place, PartCounts &counts) const {
    addPlaces(program, order, place, place + 1, runtime.fusesElementwise,
              counts);
  }
  std::optional<Error> addPart(const PartCounts &counts, PipelinePart &part);
};

/// Of training, how many times the forward's work is done: gradients of inputs
/// and of weights multiply matrices as large (arXiv:2104.04473, appendix).
inline constexpr int64_t trainingPasses = 3;

/// What a report of a pipeline was put together from.
struct PipelineStages {
  std::vector<const Report *> byDevice;
  /// The stage that holds the most, and that whose caches are full first.
  int64_t fullest = 0, scarcest = 0;
  bool isTraining = false;
};

/// Fills the derivations of `report`, which has those of the whole model, from
/// those of the stages.
void explainPipeline(const PipelineParts &parts, const PipelineStages &stages,
                     Report &report);

} // namespace autopar

#endif // AUTOPAR_LIB_COST_PIPELINEPARTS_H
