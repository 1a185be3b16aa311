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

/// FLOPs of a training step over those of its forward: the gradients of inputs
/// and of weights each multiply matrices of the same size as the forward
/// (arXiv:2104.04473, appendix).
inline constexpr int64_t trainingPasses = 3;

/// Whether a schedule of this kind has backwards.
constexpr bool isTraining(schedule::ScheduleKind kind) {
  return kind != schedule::ScheduleKind::inference;
}

/// The inputs of a pipeline schedule other than the priced layers.
struct PipelineSteps {
  PipelineShape shape;
  /// Layers of each virtual stage, as positions in the order of layers.
  std::vector<schedule::LayerRange> ranges;
  /// Whether a round of a microbatch waits for its previous round, as decode
  /// steps do.
  bool loops = false;
  /// The steps that a microbatch consists of: each kind of step, and how many
  /// steps are of that kind.
  std::vector<program::PrefillChunk> kinds;
  /// Host time of a device for one step, by kind of step, in ps.
  std::vector<schedule::Picoseconds> hostPs;
  /// Time of the transfer from each virtual stage to the next, and from the
  /// last to the first if rounds repeat, in ps; by stage, then by kind of step.
  std::vector<schedule::Picoseconds> transferPs;
  /// Bytes of its output that a stage keeps per microbatch after sending it, by
  /// stage (`StagePricer::keptOutputBytes`). Empty if stages keep nothing.
  std::vector<int64_t> keptOutputBytes = {};
  /// Time of summing the gradients of tied weights that the first and the last
  /// device both hold, in ps (`StagePricer::copiedGradientBytes`).
  schedule::Picoseconds copiesPs = 0;

  /// Returns the number of tasks of the schedule.
  Checked tasks() const;
};

/// Returns the host time, in us, of a device for one step of a microbatch,
/// without the time per layer. Each of `replicas` replicas has an engine of its
/// own.
double hostTimeUs(const runtime::Runtime &runtime,
                  const program::Workload &step, int64_t replicas);

/// Returns the route by which a microbatch goes from virtual stage `stage` to
/// the next one, in a pipeline along the axis `devices`. The route has no tier
/// if no link joins the two stages.
Route transferRoute(const Network &network, const GroupAxis &devices,
                    int64_t stage, int64_t stages, bool ideal);

/// Returns the route on which the first and the last device of a pipeline sum
/// the gradients that both hold. The route has no tier if no link joins the two
/// devices.
Route copiesRoute(const Network &network, const GroupAxis &devices, bool ideal);

/// Return the times of one virtual stage, and of one device with all its
/// virtual stages, per microbatch. For programs with backwards.
TrainingTimes stageTimes(const PricedLayers &layers, const PipelineSteps &steps,
                         size_t stage);
TrainingTimes deviceTimes(const PricedLayers &layers,
                          const PipelineSteps &steps, int64_t device);

/// Adds the communication that is not hidden in the sections of `exposed` to
/// the work of a stage per microbatch.
void takeSections(const TrainingTimes &exposed, schedule::StageWork &work);

schedule::PipelineSchedule scheduleOf(const PricedLayers &layers,
                                      const PipelineSteps &steps);

/// The terms of the time of one training iteration.
struct IterationTimes {
  /// Time, in ps, until the last device has its gradients, summed over tied
  /// copies. All devices wait for it, because gradients are clipped by their
  /// global norm.
  schedule::Picoseconds gradientsPs = 0;
  /// The time in ps that the optimizer takes on the slowest device, including
  /// the gathers of weights for it.
  schedule::Picoseconds optimizerPs = 0;
  schedule::Picoseconds stragglersPs = 0;

  schedule::Picoseconds allPs() const {
    return gradientsPs + optimizerPs + stragglersPs;
  }
  /// Raises the terms to those of a device that has its gradients at `endPs`,
  /// if these are larger. Stragglers are not included.
  void take(schedule::Picoseconds endPs, const SectionTimes &optimizer);
};
/// Returns the times of an iteration. `endPs` has the time at which each device
/// ends its last gradients of inputs and weights (`gradientEnds`).
IterationTimes iterationOf(const StagePricer &pricer,
                           const PipelineSteps &steps,
                           const std::vector<schedule::Picoseconds> &endPs);

/// Bytes of a device in training: `totalBytes` sums its layers, `savedBytes` is
/// what its microbatches keep for the backward.
struct TrainingMemory {
  int64_t totalBytes = 0;
  int64_t budgetBytes = 0, updateBytes = 0, activationBytes = 0;
  int64_t savedBytes = 0;
  /// Bytes that the allocator wastes, and bytes of the update that reuse memory
  /// of freed activations, because an allocator that runs short returns free
  /// memory.
  int64_t allocatorBytes = 0, reusedBytes = 0;

  /// Computes the fields below `savedBytes` and adds them to `totalBytes`.
  void settle(const runtime::Runtime &runtime);
  bool fits() const { return totalBytes <= budgetBytes; }
};

/// Returns the training memory of a device, without the values saved for
/// backwards.
TrainingMemory trainingMemoryOf(const StagePricer::StageMemory &memory);

/// Returns the time of a step: the time between two rounds if rounds repeat,
/// else the time of the whole schedule.
schedule::Picoseconds stepTimeOf(const schedule::PipelineSchedule &schedule,
                                 const schedule::PipelineTimeline &timeline);
/// Returns the growth of the step time (`stepTimeOf`) that `growth` of the
/// schedule's tasks causes.
schedule::Picoseconds stepGrowthOf(const schedule::PipelineSchedule &schedule,
                                   const schedule::Growth &growth);

} // namespace autopar::cost

#endif // AUTOPAR_COST_PIPELINETIMES_H
