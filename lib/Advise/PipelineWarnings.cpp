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

/// What lies before the layers is on one stage: an encoder may outweigh all
/// others.
static void adviseOnEnds(const EvaluatedPipeline &step, Warnings &warnings) {
  const PipelineParts &parts = step.parts;
  Picoseconds all = 0;
  for (const LayerCost &device : step.report.pipeline->partition.devices)
    all += device.timePs;
  Picoseconds mean = all / parts.shape.stages;
  std::pair<const char *, Picoseconds> ends[] = {
      {"before the first layer", parts.pricer.before.cost.timePs},
      {"after the last layer", parts.pricer.after.cost.timePs}};
  for (auto [where, time] : ends)
    if (parts.shape.stages > 1 && time > mean)
      warnings.push_back(
          {"what lies " + std::string(where) + " takes " +
               formatTime(toMicroseconds(time)) +
               " of a microbatch on one stage, the mean of all stages is " +
               formatTime(toMicroseconds(mean)) +
               ": stages divide the layers of the last stack only",
           "undivided-end"});
}

static void warnAssumedBackwards(const EvaluatedPipeline &step,
                                 Warnings &warnings) {
  if (!step.assumesBackwards())
    return;
  ScheduleKind kind = *step.parts.plan.pipeline.schedule;
  warnings.push_back(
      {"schedule " + std::string(nameOf(kind)) +
           " is of training: gradients, optimizer states and saved "
           "activations are not in the memory figures, and FLOPs and the "
           "breakdown are those of forwards",
       "training-memory"});
}

/// A plan that leaves less of the budget than this may fail: at 96 % of the
/// memory torchtitan's users saw nodes fail (pytorch/torchtitan, issue 1789),
/// since free blocks of the caching allocator need not fit what is asked for.
static constexpr double leastMargin = 0.05;

static void adviseOnMargin(const EvaluatedPipeline &step, Warnings &warnings) {
  const Report::DeviceMemory &memory = step.report.memory.perDevice;
  if (!memory.fits || step.report.training->memoryMargin >= leastMargin)
    return;
  warnings.push_back(
      {"little memory is left: " +
           formatBytes(memory.budgetBytes - memory.totalBytes) +
           " of a budget of " + formatBytes(memory.budgetBytes) + " in " +
           step.report.memory.worstDevice +
           "; what the allocator cannot hand out may take it: more "
           "--microbatches, --recompute or shards leave more",
       "little-memory-left"});
}

static void adviseOnIteration(const EvaluatedPipeline &step,
                              Warnings &warnings) {
  const Runtime &runtime = step.parts.runtime;
  const Report::Memory &memory = step.report.memory;
  if (!memory.perDevice.fits)
    warnings.insert(
        warnings.begin(),
        {missingText(memory.perDevice, runtime) + " in " + memory.worstDevice +
             ": more --microbatches, stages or shards would need less",
         "does-not-fit"});
  if (!runtime.training)
    warnings.push_back(
        {"runtime " + runtime.name +
             " says nothing of training: no communication of weights is "
             "overlapped, and the allocator loses nothing",
         "not-a-trainer"});
  adviseOnMargin(step, warnings);
}

static bool isOfMemory(const Warning &warning) {
  return warning.kind == "does-not-fit" || warning.kind == "idle-memory" ||
         warning.subject == Warning::Subject::resident;
}

/// What is said of memory is about the fullest stage, the rest about the
/// heaviest one.
Warnings autopar::advice::warningsOf(const EvaluatedPipeline &step) {
  Warnings warnings;
  if (!step.iteration)
    for (Warning &warning : warningsOf(*step.byDevice[step.fullest]))
      if (isOfMemory(warning))
        warnings.push_back(std::move(warning));
  for (Warning &warning : warningsOf(step.heaviest()))
    if (!isOfMemory(warning))
      warnings.push_back(std::move(warning));
  adviseOnEnds(step, warnings);
  warnAssumedBackwards(step, warnings);
  if (step.iteration)
    adviseOnIteration(step, warnings);
  return warnings;
}
