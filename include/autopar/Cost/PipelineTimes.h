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

/// Of training, how many times the forward's work is done: gradients of inputs
/// and of weights multiply matrices as large (arXiv:2104.04473, appendix).
inline constexpr int64_t trainingPasses = 3;

/// Whether a schedule has backwards.
constexpr bool isTraining(schedule::ScheduleKind kind) {
  return kind != schedule::ScheduleKind::inference;
}

/// What the schedule of a pipeline is made of, beside its priced parts.
struct PipelineSteps {
  PipelineShape shape;
  /// Of each virtual stage, by layer of the order.
  std::vector<schedule::LayerRange> ranges;
  /// Whether a round of a microbatch waits for the one before, as decode does.
  bool loops = false;
  /// What a microbatch goes through: each kind of step, and how often.
  std::vector<program::PrefillChunk> kinds;
  /// Of a device's host, by kind of step.
  std::vector<schedule::Picoseconds> hostPs;
  /// From each virtual stage to the next, and from the last to the first where
  /// it loops; by stage, then by kind.
  std::vector<schedule::Picoseconds> transferPs;
  /// What stages keep of a microbatch that they handed on, by stage
  /// (`StagePricer::keptOutputBytes`); none: nothing.
  std::vector<int64_t> keptOutputBytes = {};
  /// What the sum of gradients takes that the first device and the last have
  /// copies of (`StagePricer::copiedGradientBytes`).
  schedule::Picoseconds copiesPs = 0;

  /// Tasks that its schedule has.
  Checked tasks() const;
};

/// What a device's host takes for one step of a microbatch, besides its layers:
/// each of `replicas` has an engine of its own.
double hostTimeUs(const runtime::Runtime &runtime,
                  const program::Workload &step, int64_t replicas);

/// How a message of each microbatch goes from virtual stage `stage` to the next
/// one, on the devices of a pipeline that lie so; of no tier where no link
/// joins them.
Route transferRoute(const Network &network, const GroupAxis &devices,
                    int64_t stage, int64_t stages, bool ideal);

/// How the first device of a pipeline and the last one sum gradients of which
/// both have copies; of no tier where no link joins them.
Route copiesRoute(const Network &network, const GroupAxis &devices, bool ideal);

/// What a virtual stage of `steps` takes, and a device with all that it has, of
/// a program that trains.
TrainingTimes stageTimes(const PricedLayers &layers, const PipelineSteps &steps,
                         size_t stage);
TrainingTimes deviceTimes(const PricedLayers &layers,
                          const PipelineSteps &steps, int64_t device);

/// What a microbatch costs on a stage of which `exposed` is what nothing hides.
void takeSections(const TrainingTimes &exposed, schedule::StageWork &work);

schedule::PipelineSchedule scheduleOf(const PricedLayers &layers,
                                      const PipelineSteps &steps);

/// What an iteration of training is the sum of.
struct IterationTimes {
  /// Until the last device has its gradients, summed with those of copies:
  /// they are clipped by their norm, which all devices have together.
  schedule::Picoseconds gradientsPs = 0;
  /// The slowest device's optimizer, and weights that it gathers.
  schedule::Picoseconds optimizerPs = 0;
  schedule::Picoseconds stragglersPs = 0;

  schedule::Picoseconds allPs() const {
    return gradientsPs + optimizerPs + stragglersPs;
  }
  /// Of a device that has its gradients at `endPs`, beside the others; without
  /// stragglers.
  void take(schedule::Picoseconds endPs, const SectionTimes &optimizer);
};
/// `endPs`: when each device is done with its last gradient of inputs and
/// weights: `endsOf` a timeline, `gradientEnds`.
IterationTimes iterationOf(const StagePricer &pricer,
                           const PipelineSteps &steps,
                           const std::vector<schedule::Picoseconds> &endPs);

/// What a device takes in training where its parts add up to `totalBytes`
/// beside the `savedBytes` of its microbatches.
struct TrainingMemory {
  int64_t totalBytes = 0;
  int64_t budgetBytes = 0, updateBytes = 0, activationBytes = 0;
  int64_t savedBytes = 0;
  /// What an allocator loses, and what of the update lies where values of
  /// passes were: one that runs short gives free blocks back.
  int64_t allocatorBytes = 0, reusedBytes = 0;

  /// Sets what follows from the rest, and adds all of it to `totalBytes`.
  void settle(const runtime::Runtime &runtime);
  bool fits() const { return totalBytes <= budgetBytes; }
};

/// That of a device, without what it saves.
TrainingMemory trainingMemoryOf(const StagePricer::StageMemory &memory);

/// The time of a step: from round to round where rounds repeat, else all.
schedule::Picoseconds stepTimeOf(const schedule::PipelineSchedule &schedule,
                                 const schedule::PipelineTimeline &timeline);
/// How fast that grows.
schedule::Picoseconds stepGrowthOf(const schedule::PipelineSchedule &schedule,
                                   const schedule::Growth &growth);

} // namespace autopar::cost

#endif // AUTOPAR_COST_PIPELINETIMES_H
