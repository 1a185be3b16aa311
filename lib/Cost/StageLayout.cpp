//===- StageLayout.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/StageLayout.h"

#include "autopar/Program/Stages.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::schedule;

/// The problem in which the layers `range` are one layer.
static StagingProblem merge(const StagingProblem &problem, LayerRange range) {
  StagingProblem merged = problem;
  auto first = merged.layers.begin() + range.begin;
  for (auto layer = first + 1; layer != merged.layers.begin() + range.end;
       ++layer) {
    first->timePs += layer->timePs;
    first->memoryBytes += layer->memoryBytes;
    first->savedBytes += layer->savedBytes;
  }
  merged.layers.erase(first + 1, merged.layers.begin() + range.end);
  return merged;
}

Result<StagePartition>
autopar::cost::layOutLayers(const CostProgram &program,
                            const std::vector<uint32_t> &order,
                            StagingProblem problem) {
  auto shared = layersOfSharedCaches(program, order);
  if (!shared)
    return layOutStages(std::move(problem));
  LayerRange together = {static_cast<int64_t>(shared->first),
                         static_cast<int64_t>(shared->second) + 1};
  StagingProblem merged = merge(problem, together);
  auto parts = static_cast<int64_t>(merged.layers.size());
  if (parts < problem.stages * problem.interleave)
    return Error{"",
                 "the layers " + std::to_string(together.begin) + " to " +
                     std::to_string(together.end - 1) +
                     " have key-value caches in common, which are on one "
                     "stage: that leaves " +
                     std::to_string(parts) + " parts for " +
                     std::to_string(problem.stages * problem.interleave) +
                     " stages",
                 "give at most " + std::to_string(parts) + " stages"};
  Result<StagePartition> found = layOutStages(std::move(merged));
  if (!found)
    return found;
  int64_t more = together.end - together.begin - 1;
  for (LayerRange &range : found->ranges)
    for (int64_t *at : {&range.begin, &range.end})
      *at += *at > together.begin ? more : 0;
  Result<StagePartition> described = describeStages(problem, found->ranges);
  if (described) {
    described->lowerBoundPs = found->lowerBoundPs;
    described->searched = found->searched;
  }
  return described;
}
