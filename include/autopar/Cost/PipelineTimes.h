//===- PipelineTimes.h - Priced parts as a schedule -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_PIPELINETIMES_H
#define AUTOPAR_COST_PIPELINETIMES_H

#include "autopar/Cost/StagePricer.h"
#include "autopar/Schedule/Growth.h"

namespace autopar::cost {

/// Work of a training step over that of its forward: gradients of inputs and of
/// weights each multiply matrices of the same size (arXiv:2104.04473,
/// appendix).
inline constexpr int64_t trainingPasses = 3;

/// Whether a schedule has backwards.
constexpr bool isTraining(schedule::ScheduleKind kind) {
  return kind != schedule::ScheduleKind::inference;
}

/// The inputs of a pipeline schedule besides its priced parts.
struct PipelineSteps {
  PipelineShape shape;
  /// Layers of each virtual stage, as positions in the order.
  std::vector<schedule::LayerRange> ranges;
  /// Whether a round of a microbatch waits for its previous round, as decode
  /// does.
  bool loops = false;
  /// The steps of a microbatch: each kind of step and its number.
  std::vector<program::PrefillChunk> kinds;
  /// Host time of a device, by kind of step.
  std::vector<schedule::Picoseconds> hostPs;
  /// Time of the transfer from each virtual stage to the next, and from the
  /// last to the first if rounds loop; by stage, then by kind.
  std::vector<schedule::Picoseconds> transferPs;
  /// Bytes that a stage keeps of each microbatch after handing it on, by stage
  /// (`StagePricer::keptOutputBytes`). Empty: none.
  std::vector<int64_t> keptOutputBytes = {};
  /// Time of the sum of gradients that the first and the last device both hold
  /// (`StagePricer::copiedGradientBytes`).
  schedule::Picoseconds copiesPs = 0;

  /// Number of tasks of the schedule.
  Checked tasks() const;
};

/// Host time of a device for one step of a microbatch, without its layers. Each
/// of `replicas` replicas has an engine of its own.
double hostTimeUs(const runtime::Runtime &runtime,
                  const program::Workload &step, int64_t replicas);

/// The route of a microbatch from virtual stage `stage` to the next one, for a
/// pipeline with its devices along `devices`. Has no tier if no link joins the
/// stages.
Route transferRoute(const Network &network, const GroupAxis &devices,
                    int64_t stage, int64_t stages, bool ideal);

/// The route on which the first and the last device of a pipeline sum gradients
/// that both hold. Has no tier if no link joins them.
Route copiesRoute(const Network &network, const GroupAxis &devices, bool ideal);

/// Times of one virtual stage, and of one device with all its stages, for a
/// program with backwards.
TrainingTimes stageTimes(const PricedLayers &layers, const PipelineSteps &steps,
                         size_t stage);
TrainingTimes deviceTimes(const PricedLayers &layers,
                          const PipelineSteps &steps, int64_t device);

/// Adds the sections `exposed`, whose communication is not hidden, to the work
/// of a stage per microbatch.
void takeSections(const TrainingTimes &exposed, schedule::StageWork &work);

schedule::PipelineSchedule scheduleOf(const PricedLayers &layers,
                                      const PipelineSteps &steps);

/// The terms of the time of a training iteration.
struct IterationTimes {
  /// Time until the last device has its gradients, summed over their copies.
  /// All devices wait for it, because gradients are clipped by their global
  /// norm.
  schedule::Picoseconds gradientsPs = 0;
  /// Time of the slowest device's optimizer and of the weights that it gathers.
  schedule::Picoseconds optimizerPs = 0;
  schedule::Picoseconds stragglersPs = 0;

  schedule::Picoseconds allPs() const {
    return gradientsPs + optimizerPs + stragglersPs;
  }
  /// Takes the maximum with a device that has its gradients at `endPs`; without
  /// stragglers.
  void take(schedule::Picoseconds endPs, const SectionTimes &optimizer);
};
/// Returns the times of an iteration. `endPs` is the time at which each device
/// ends its last gradients of inputs and weights (`gradientEnds`).
IterationTimes iterationOf(const StagePricer &pricer,
                           const PipelineSteps &steps,
                           const std::vector<schedule::Picoseconds> &endPs);

/// Memory of a device in training: `totalBytes` of its parts, and `savedBytes`
/// of its microbatches.
struct TrainingMemory {
  int64_t totalBytes = 0;
  int64_t budgetBytes = 0, updateBytes = 0, activationBytes = 0;
  int64_t savedBytes = 0;
  /// Bytes that the allocator wastes, and bytes of the update that reuse the
  /// blocks of freed activations, because an allocator that runs short returns
  /// free blocks.
  int64_t allocatorBytes = 0, reusedBytes = 0;

  /// Computes the remaining fields and adds them to `totalBytes`.
  void settle(const runtime::Runtime &runtime);
  bool fits() const { return totalBytes <= budgetBytes; }
};

/// The memory of a device without its saved values.
TrainingMemory trainingMemoryOf(const StagePricer::StageMemory &memory);

/// The time of a step: that between two rounds if rounds repeat, else the whole
/// schedule.
schedule::Picoseconds stepTimeOf(const schedule::PipelineSchedule &schedule,
                                 const schedule::PipelineTimeline &timeline);
/// The growth of the step time.
schedule::Picoseconds stepGrowthOf(const schedule::PipelineSchedule &schedule,
                                   const schedule::Growth &growth);

} // namespace autopar::cost

#endif // AUTOPAR_COST_PIPELINETIMES_H
