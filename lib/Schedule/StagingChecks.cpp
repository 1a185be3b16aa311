//===- StagingChecks.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagingChecks.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Checks of the shape and the costs
//===----------------------------------------------------------------------===//

std::string autopar::schedule::shapeText(int64_t stages, int64_t interleave) {
  std::string text = countOf(stages, "stage");
  return interleave > 1 ? text + " with interleave " + formatInteger(interleave)
                        : text;
}

/// Returns the number of virtual stages that need no layer.
static int64_t endsOf(const StagingProblem &problem) {
  return problem.endsMayBeAlone && !problem.layers.empty() ? 2 : 0;
}

static std::optional<Error> checkShape(const StagingProblem &problem) {
  int64_t p = problem.stages, v = problem.interleave;
  if (p < 1 || v < 1 || Checked(p) * v > limits::maxVirtualStages)
    return Error{"",
                 "stages = " + formatInteger(p) +
                     ", interleave = " + formatInteger(v),
                 "both are at least 1 and their product at most " +
                     formatInteger(limits::maxVirtualStages)};
  auto layers = static_cast<int64_t>(problem.layers.size());
  if (layers > limits::maxConfigLayers)
    return Error{"", formatInteger(layers) + " layers to split into stages",
                 "at most " + formatInteger(limits::maxConfigLayers)};
  if (layers + endsOf(problem) >= p * v)
    return std::nullopt;
  std::string note = "every virtual stage has at least one layer";
  if (problem.endsMayBeAlone)
    note += ", but that the first may have the embedding and the last the head "
            "alone";
  if (int64_t most = layers + endsOf(problem); layers > 0)
    note += ": at most " +
            (most >= p ? shapeText(p, most / p) : shapeText(most, 1));
  return Error{"",
               shapeText(p, v) + " are " + formatInteger(p * v) +
                   " virtual stages, but the model has " +
                   countOf(layers, "layer"),
               note};
}

static bool isInRange(const LayerCost &cost) {
  auto isOfMemory = [](int64_t bytes) {
    return bytes >= 0 && bytes <= limits::maxPipelineBytes;
  };
  return cost.timePs >= 0 && cost.timePs <= limits::maxStageTimePs &&
         isOfMemory(cost.memoryBytes) && isOfMemory(cost.savedBytes);
}

/// Returns the error about a `cost` that is out of range.
static Error refuse(const LayerCost &cost, const std::string &name) {
  if (cost.timePs < 0 || cost.timePs > limits::maxStageTimePs)
    return Error{"", name + " takes " + formatInteger(cost.timePs) + " ps",
                 "times are from 0 to " +
                     formatInteger(limits::maxStageTimePs) + " ps"};
  return Error{"",
               name + " takes " + formatInteger(cost.memoryBytes) + " bytes",
               "memory is from 0 to " +
                   formatInteger(limits::maxPipelineBytes) + " bytes"};
}

static std::optional<Error> checkCosts(const StagingProblem &problem) {
  if (!isInRange(problem.embedding))
    return refuse(problem.embedding, "the embedding");
  if (!isInRange(problem.head))
    return refuse(problem.head, "the head");
  Checked time = Checked(problem.embedding.timePs) + problem.head.timePs;
  auto bytesOf = [&](const LayerCost &cost) {
    return Checked(cost.savedBytes) * problem.keptOn(0) + cost.memoryBytes;
  };
  Checked memory = bytesOf(problem.embedding) + bytesOf(problem.head);
  for (size_t i = 0; i < problem.layers.size(); ++i) {
    if (!isInRange(problem.layers[i]))
      return refuse(problem.layers[i], "layer " + std::to_string(i));
    time += problem.layers[i].timePs;
    memory += bytesOf(problem.layers[i]);
  }
  if (time > limits::maxPipelineTimePs)
    return Error{"", "all layers take " + formatInteger(time) + " ps",
                 "at most " + formatInteger(limits::maxPipelineTimePs) + " ps"};
  if (memory > limits::maxPipelineBytes)
    return Error{"", "all layers take " + formatInteger(memory) + " bytes",
                 "at most " + formatInteger(limits::maxPipelineBytes) +
                     " bytes"};
  if (problem.memoryLimitBytes && *problem.memoryLimitBytes < 0)
    return Error{"",
                 "a memory limit of " +
                     formatInteger(*problem.memoryLimitBytes) + " bytes",
                 "memory limits are not negative"};
  return std::nullopt;
}

std::optional<Error>
autopar::schedule::checkProblem(const StagingProblem &problem) {
  if (auto error = checkShape(problem))
    return error;
  return checkCosts(problem);
}

static std::string writtenAs(const LayerRange &range) {
  return formatInteger(range.begin) + "-" +
         formatInteger(Checked(range.end) - 1);
}

std::optional<Error>
autopar::schedule::checkRanges(const StagingProblem &problem,
                               const std::vector<LayerRange> &ranges) {
  int64_t wanted = problem.stages * problem.interleave;
  auto layers = static_cast<int64_t>(problem.layers.size());
  if (static_cast<int64_t>(ranges.size()) != wanted)
    return Error{"",
                 countOf(ranges.size(), "range") + " for " +
                     shapeText(problem.stages, problem.interleave),
                 "give " + formatInteger(wanted) + ", one per virtual stage"};
  int64_t next = 0;
  for (const LayerRange &range : ranges) {
    bool isEnd = &range == &ranges.front() || &range == &ranges.back();
    if (range.begin != next)
      return Error{"",
                   "range " + writtenAs(range) +
                       (next ? " follows layer " + formatInteger(next - 1)
                             : " is the first"),
                   "it begins with layer " + std::to_string(next)};
    if (range.end < range.begin + (isEnd ? 0 : 1) || range.end > layers)
      return Error{"",
                   "range " + writtenAs(range) + " of a model with " +
                       countOf(layers, "layer"),
                   "ranges have at least one layer; the last layer is " +
                       std::to_string(layers - 1)};
    next = range.end;
  }
  if (next == layers)
    return std::nullopt;
  return Error{"", "the ranges end at layer " + std::to_string(next - 1),
               "the last one ends at layer " + std::to_string(layers - 1)};
}
