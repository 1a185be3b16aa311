//===- PipelineWarnings.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Advise/Warnings.h"

#include "Advice.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::evaluation;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

/// Warns about operations before or after the layers, which are on one stage
/// only: an encoder may take longer than all other stages.
static void adviseOnEnds(const EvaluatedPipeline &pipeline,
                         Warnings &warnings) {
  const PipelineParts &parts = pipeline.parts;
  Picoseconds all = 0;
  for (const LayerCost &device : pipeline.report.pipeline->partition.devices)
    all += device.timePs;
  Picoseconds mean = all / parts.shape.stages;
  std::pair<const char *, Picoseconds> ends[] = {
      {"before the first layer", parts.pricer.before.cost.timePs},
      {"after the last layer", parts.pricer.after.cost.timePs}};
  for (auto [where, time] : ends)
    if (parts.shape.stages > 1 && time > mean)
      warnings.push_back(
          {"the ops " + std::string(where) + " take " +
               formatTime(toMicroseconds(time)) +
               " per microbatch on one stage, the mean of all stages is " +
               formatTime(toMicroseconds(mean)) +
               ": only layers of the last stack are divided among stages",
           "undivided-end"});
}

static void warnAssumedBackwards(const EvaluatedPipeline &pipeline,
                                 Warnings &warnings) {
  if (!pipeline.assumesBackwards())
    return;
  ScheduleKind kind = *pipeline.parts.plan.pipeline.schedule;
  warnings.push_back(
      {"schedule " + std::string(nameOf(kind)) +
           " is for training, and this step has no backward: memory figures "
           "lack gradients, optimizer states and saved activations, FLOPs and "
           "breakdown are those of the forward",
       "training-memory"});
}

/// A plan that leaves less than this share of the memory budget may fail: at 96
/// % of the memory, users of torchtitan saw nodes fail (pytorch/torchtitan,
/// issue 1789), because free blocks of the caching allocator need not fit a
/// request.
static constexpr double leastMargin = 0.05;

static void adviseOnMargin(const EvaluatedPipeline &pipeline,
                           Warnings &warnings) {
  const Report::DeviceMemory &memory = pipeline.report.memory.perDevice;
  if (!memory.fits || pipeline.report.training->memoryMargin >= leastMargin)
    return;
  warnings.push_back(
      {"only " + formatBytes(memory.budgetBytes - memory.totalBytes) +
           " are left of a budget of " + formatBytes(memory.budgetBytes) +
           " in " + pipeline.report.memory.worstDevice +
           "; fragmentation of the allocator may take them: more "
           "--microbatches, --recompute or shards leave more",
       "little-memory-left"});
}

static void adviseOnIteration(const EvaluatedPipeline &pipeline,
                              Warnings &warnings) {
  const Runtime &runtime = pipeline.parts.runtime;
  const Report::Memory &memory = pipeline.report.memory;
  if (!memory.perDevice.fits)
    warnings.insert(
        warnings.begin(),
        {missingText(memory.perDevice, runtime) + " in " + memory.worstDevice +
             "; more --microbatches, stages or shards would need less",
         "does-not-fit"});
  if (!runtime.training)
    warnings.push_back(
        {"runtime " + runtime.name +
             " has no figures of training: no communication of weights is "
             "overlapped, and the allocator loses no memory",
         "not-a-trainer"});
  adviseOnMargin(pipeline, warnings);
}

static bool isOfMemory(const Warning &warning) {
  return warning.kind == "does-not-fit" || warning.kind == "idle-memory" ||
         warning.subject == Warning::Subject::resident;
}

/// Warnings about memory come from the fullest stage, all other warnings from
/// the heaviest stage.
Warnings autopar::advice::warningsOf(const EvaluatedPipeline &pipeline) {
  const EvaluatedStep &heaviest = pipeline.heaviest();
  const EvaluatedStep &fullest = *pipeline.byDevice[pipeline.fullest];
  const Warnings ofHeaviest = warningsOf(heaviest);
  Warnings warnings;
  auto take = [&](const Warnings &all, bool ofMemory) {
    for (const Warning &warning : all)
      if (isOfMemory(warning) == ofMemory)
        warnings.push_back(warning);
  };
  if (!pipeline.iteration)
    take(&fullest == &heaviest ? ofHeaviest : warningsOf(fullest), true);
  take(ofHeaviest, false);
  adviseOnEnds(pipeline, warnings);
  warnAssumedBackwards(pipeline, warnings);
  if (pipeline.iteration)
    adviseOnIteration(pipeline, warnings);
  return warnings;
}
