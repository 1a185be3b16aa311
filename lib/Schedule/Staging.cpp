//===- Staging.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"

#include "AlikeLayers.h"
#include "FoldedStages.h"
#include "Partitioner.h"
#include "StagingChecks.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

std::vector<int64_t> StagePartition::stagesOf(int64_t device) const {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < interleave; ++i)
    all.push_back(device + i * stages);
  if (folded && device != stages - 1 - device)
    all.push_back(stages - 1 - device);
  std::sort(all.begin(), all.end());
  return all;
}

double StagePartition::gap() const {
  if (optimal())
    return 0;
  return static_cast<double>(heaviestPs() - lowerBoundPs) /
         static_cast<double>(std::max<Picoseconds>(lowerBoundPs, 1));
}

//===----------------------------------------------------------------------===//
// Stages that hold only the embedding or the head
//===----------------------------------------------------------------------===//

static bool needsEnds(const StagingProblem &problem) {
  return static_cast<int64_t>(problem.layers.size()) <
         problem.stages * problem.interleave;
}

/// Returns the problem in which embedding and head are the first and the last
/// layer.
static StagingProblem withEnds(StagingProblem problem) {
  problem.layers.insert(problem.layers.begin(), problem.embedding);
  problem.layers.push_back(problem.head);
  problem.embedding = problem.head = {};
  return problem;
}

/// Converts ranges of the problem that `withEnds` returns to ranges of the
/// original problem, which has `layers` layers.
static std::vector<LayerRange> withoutEnds(std::vector<LayerRange> ranges,
                                           int64_t layers) {
  for (LayerRange &range : ranges)
    for (int64_t *at : {&range.begin, &range.end})
      *at = std::clamp<int64_t>(*at - 1, 0, layers);
  return ranges;
}

/// Solves a problem whose first and last virtual stage need no layer.
static Result<StagePartition> partitionWithEnds(const StagingProblem &problem) {
  StagingProblem wide = withEnds(problem);
  Result<StagePartition> found = Partitioner(wide).run();
  if (!found)
    return found;
  StagePartition own = Partitioner(problem).describe(
      withoutEnds(found->ranges, static_cast<int64_t>(problem.layers.size())));
  own.lowerBoundPs = found->lowerBoundPs;
  own.searched = found->searched;
  return own;
}

//===----------------------------------------------------------------------===//
// Functions for callers
//===----------------------------------------------------------------------===//

Result<StagePartition>
autopar::schedule::partitionStages(const StagingProblem &problem) {
  if (auto error = checkProblem(problem))
    return *error;
  if (needsEnds(problem))
    return partitionWithEnds(problem);
  return Partitioner(problem).run();
}

Result<StagePartition> autopar::schedule::layOutStages(StagingProblem problem) {
  if (auto error = checkProblem(problem))
    return *error;
  if (needsEnds(problem)) {
    Result<StagePartition> within = partitionWithEnds(problem);
    problem.memoryLimitBytes.reset();
    return within ? within : partitionWithEnds(problem);
  }
  if (std::optional<StagePartition> even = evenSplit(problem))
    return std::move(*even);
  Partitioner partitioner(problem);
  if (problem.memoryLimitBytes)
    if (std::optional<StagePartition> within = partitioner.runWithin())
      return std::move(*within);
  problem.memoryLimitBytes.reset();
  partitioner.ignoreMemory();
  return partitioner.run();
}

/// Returns whether the first or the last of `ranges` has no layer, so that the
/// embedding or the head is alone.
static bool haveEnds(const StagingProblem &problem,
                     const std::vector<LayerRange> &ranges) {
  return !problem.folded && !ranges.empty() &&
         (ranges.front().isEmpty() || ranges.back().isEmpty());
}

Result<StagePartition>
autopar::schedule::describeStages(const StagingProblem &problem,
                                  std::vector<LayerRange> ranges) {
  StagingProblem own = problem;
  own.endsMayBeAlone |= haveEnds(problem, ranges);
  if (auto error = checkProblem(own))
    return *error;
  if (auto error = checkRanges(own, ranges))
    return *error;
  return own.folded ? describeFolded(own, std::move(ranges))
                    : Partitioner(own).describe(std::move(ranges));
}

Result<StagePartition>
autopar::schedule::evaluateStages(const StagingProblem &own,
                                  std::vector<LayerRange> ranges) {
  bool hasEnds = haveEnds(own, ranges);
  Result<StagePartition> described = describeStages(own, std::move(ranges));
  if (!described)
    return described;
  StagePartition given = std::move(*described);
  StagingProblem searched = hasEnds ? withEnds(own) : own;
  Partitioner partitioner(searched);
  if (partitioner.isOverLimit(given)) {
    Result<StagePartition> other = partitioner.run();
    if (!other)
      return partitioner.overLimit(given, other.error().note);
    auto layers = static_cast<int64_t>(own.layers.size());
    return partitioner.overLimit(
        given, "ranges that would do: " +
                   rangesText(hasEnds ? withoutEnds(other->ranges, layers)
                                      : other->ranges));
  }
  if (own.folded)
    return given;
  StagePartition best = given;
  partitioner.findLeastTime(best);
  given.lowerBoundPs = best.lowerBoundPs;
  given.searched = partitioner.searched();
  return given;
}
