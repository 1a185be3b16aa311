//===- PipelineTimes.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/PipelineTimes.h"

#include "autopar/Cost/Route.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;

/// The number of decode steps that are simulated; the last of them gives the
/// step time.
static constexpr int64_t decodeRounds = 4;
/// The work of a backward as a multiple of the work of a forward.
static constexpr int64_t backwardForwards = trainingPasses - 1;

Checked PipelineSteps::tasks() const {
  Checked rounds = 0;
  for (const PrefillChunk &kind : kinds)
    rounds += kind.count;
  return rounds * shape.microbatches * static_cast<int64_t>(ranges.size());
}

double autopar::cost::hostTimeUs(const Runtime &runtime, const Workload &step,
                                 int64_t replicas) {
  int64_t sequences = (step.batch + replicas - 1) / replicas;
  return runtime.hostTimeUs.value +
         runtime.hostTimePerSequenceUs.value * static_cast<double>(sequences);
}

Route autopar::cost::transferRoute(const Network &network,
                                   const GroupAxis &devices, int64_t stage,
                                   int64_t stages, bool ideal) {
  int64_t next = stage + 1 == stages ? 0 : stage + 1;
  return network.transfer(devices, stage % devices.size, next % devices.size,
                          ideal);
}

Route autopar::cost::copiesRoute(const Network &network,
                                 const GroupAxis &devices, bool ideal) {
  return network.join(CollectiveKind::all_reduce, devices, 0, devices.size - 1,
                      ideal);
}

namespace {

class Works {
public:
  Works(const PricedLayers &layers, const PipelineSteps &steps)
      : layers(layers), steps(steps) {}

  StageWork of(size_t stage, size_t kind) const;

private:
  PipelinePart::Step sumOf(size_t stage, size_t kind) const;

  const PricedLayers &layers;
  const PipelineSteps &steps;
};

} // namespace

/// Returns the time of a step of kind `kind` on stage `stage`.
PipelinePart::Step Works::sumOf(size_t stage, size_t kind) const {
  PipelinePart::Step sum;
  auto add = [&](const PipelinePart &part) {
    bool isOne = part.steps.empty();
    sum.timePs += isOne ? part.cost.timePs : part.steps[kind].timePs;
    sum.communicationPs +=
        isOne ? part.communicationPs : part.steps[kind].communicationPs;
  };
  if (stage == 0)
    add(layers.before);
  const LayerRange &range = steps.ranges[stage];
  for (int64_t i = range.begin; i < range.end; ++i)
    add(layers.layer(i));
  if (stage + 1 == steps.ranges.size())
    add(layers.after);
  return sum;
}

/// Adds the times of the program's sections to the work of a stage.
void autopar::cost::takeSections(const TrainingTimes &exposed,
                                 StageWork &work) {
  const SectionTimes &forward = exposed.of(Section::forward);
  const SectionTimes &backward = exposed.of(Section::backward);
  work.forwardPs += forward.allPs();
  work.forwardCommunicationPs = forward.callsPs();
  work.weightGradientPs = exposed.weightGradientPs;
  work.inputGradientPs = backward.allPs() - exposed.weightGradientPs;
  work.backwardCommunicationPs = backward.callsPs();
  work.savedBytes = exposed.savedBytes;
}

/// Sets the times of the backward for a program that has only the forward: they
/// are estimated from the forward.
static void assumeBackward(const PipelinePart::Step &forward, StageWork &work) {
  work.inputGradientPs = work.weightGradientPs =
      forward.timePs * backwardForwards / 2;
  work.backwardCommunicationPs = forward.communicationPs * backwardForwards;
}

StageWork Works::of(size_t stage, size_t kind) const {
  const PipelineShape &shape = steps.shape;
  Picoseconds host = steps.hostPs[kind];
  // The host waits once per device. A folded schedule has two stages on each
  // device, and each stage gets half of the wait.
  Picoseconds waits = shape.isFolded() ? host / 2 : host;
  StageWork work;
  work.forwardPs = static_cast<int64_t>(stage) < shape.stages ? waits : 0;
  if (layers.isTraining()) {
    takeSections(layers.exposed(stageTimes(layers, steps, stage)), work);
  } else {
    PipelinePart::Step step = sumOf(stage, kind);
    work.forwardPs += step.timePs;
    work.forwardCommunicationPs = step.communicationPs;
    if (isTraining(shape.kind))
      assumeBackward(step, work);
  }
  size_t transfer = stage * steps.kinds.size() + kind;
  if (transfer < steps.transferPs.size())
    work.transferPs = steps.transferPs[transfer];
  return work;
}

TrainingTimes autopar::cost::stageTimes(const PricedLayers &layers,
                                        const PipelineSteps &steps,
                                        size_t stage) {
  TrainingTimes sum;
  if (stage == 0)
    sum += layers.before.training;
  const LayerRange &range = steps.ranges[stage];
  for (int64_t i = range.begin; i < range.end; ++i)
    sum += layers.layer(i).training;
  if (stage + 1 == steps.ranges.size())
    sum += layers.after.training;
  if (!steps.keptOutputBytes.empty())
    sum.savedBytes += steps.keptOutputBytes[stage];
  return sum;
}

TrainingTimes autopar::cost::deviceTimes(const PricedLayers &layers,
                                         const PipelineSteps &steps,
                                         int64_t device) {
  TrainingTimes sum;
  for (size_t stage = device; stage < steps.ranges.size();
       stage += steps.shape.stages)
    sum += stageTimes(layers, steps, stage);
  if (steps.shape.isFolded())
    sum += stageTimes(layers, steps, steps.shape.stages - 1 - device);
  if (device == 0 || device + 1 == steps.shape.stages)
    sum.of(Section::optimizer).copiesPs = steps.copiesPs;
  return sum;
}

void IterationTimes::take(Picoseconds endPs, const SectionTimes &optimizer) {
  // Two devices that hold copies of the same weight wait for each other, so
  // that the later of the two counts.
  Picoseconds summedPs = optimizer.reductionPs + optimizer.copiesPs;
  gradientsPs = std::max(gradientsPs, endPs + summedPs);
  optimizerPs = std::max(optimizerPs, optimizer.allPs() - summedPs);
}

IterationTimes
autopar::cost::iterationOf(const StagePricer &pricer,
                           const PipelineSteps &steps,
                           const std::vector<Picoseconds> &endPs) {
  IterationTimes times;
  for (int64_t device = 0; device < steps.shape.stages; ++device) {
    SectionTimes optimizer = pricer.exposed(deviceTimes(pricer, steps, device))
                                 .of(Section::optimizer);
    times.take(endPs[device], optimizer);
  }
  times.stragglersPs = pricer.stragglersOf(times.allPs());
  return times;
}

void TrainingMemory::settle(const Runtime &runtime) {
  int64_t ofPasses = savedBytes + activationBytes;
  if (runtime.training)
    allocatorBytes = static_cast<int64_t>(
        std::floor(runtime.training->allocatorOverhead.value *
                   static_cast<double>(ofPasses)));
  totalBytes += savedBytes + allocatorBytes;
  int64_t missing = std::max<int64_t>(0, totalBytes - budgetBytes);
  reusedBytes = std::min({missing, updateBytes, ofPasses});
  totalBytes -= reusedBytes;
}

TrainingMemory
autopar::cost::trainingMemoryOf(const StagePricer::StageMemory &memory) {
  TrainingMemory all;
  all.totalBytes = static_cast<int64_t>(memory.totalBytes);
  all.budgetBytes = static_cast<int64_t>(memory.budgetBytes);
  all.updateBytes = static_cast<int64_t>(memory.updateBytes);
  all.activationBytes = static_cast<int64_t>(memory.activationBytes);
  return all;
}

PipelineSchedule autopar::cost::scheduleOf(const PricedLayers &layers,
                                           const PipelineSteps &steps) {
  PipelineSchedule schedule;
  schedule.kind = steps.shape.kind;
  schedule.stages = steps.shape.stages;
  schedule.interleave = steps.shape.interleave;
  schedule.microbatches = steps.shape.microbatches;
  schedule.loop = steps.loops;
  schedule.rounds = steps.loops ? decodeRounds : 0;
  Works works(layers, steps);
  for (size_t kind = 0; kind < steps.kinds.size(); ++kind) {
    std::vector<StageWork> round;
    for (size_t stage = 0; stage < steps.ranges.size(); ++stage)
      round.push_back(works.of(stage, kind));
    for (int64_t i = 0; i < steps.kinds[kind].count; ++i)
      schedule.work.insert(schedule.work.end(), round.begin(), round.end());
    if (!steps.loops)
      schedule.rounds += steps.kinds[kind].count;
  }
  return schedule;
}

static Picoseconds stepOf(const PipelineSchedule &schedule, Picoseconds all,
                          const std::vector<Picoseconds> &roundEnds) {
  if (!schedule.loop)
    return all;
  return roundEnds.back() - roundEnds[roundEnds.size() - 2];
}

Picoseconds autopar::cost::stepTimeOf(const PipelineSchedule &schedule,
                                      const PipelineTimeline &timeline) {
  return stepOf(schedule, timeline.makespanPs, timeline.roundEndPs);
}

Picoseconds autopar::cost::stepGrowthOf(const PipelineSchedule &schedule,
                                        const Growth &growth) {
  return stepOf(schedule, growth.makespan, growth.roundEnds);
}
