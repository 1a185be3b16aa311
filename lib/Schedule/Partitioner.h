//===- Partitioner.h - The best split of layers -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_PARTITIONER_H
#define AUTOPAR_LIB_SCHEDULE_PARTITIONER_H

#include "StageSearch.h"

#include "autopar/Support/Limits.h"

namespace autopar::schedule {

/// Finds the best split of a problem: see `partitionStages`.
class Partitioner {
public:
  explicit Partitioner(const StagingProblem &problem);

  Result<StagePartition> run();
  Result<StagePartition> runFolded();
  std::optional<StagePartition> runWithin();
  void ignoreMemory() { memoryLimit = mostBytes(); }
  /// Returns the partition with these `ranges`.
  StagePartition describe(std::vector<LayerRange> ranges) const;
  Error overLimit(const StagePartition &partition, std::string note) const;
  bool isOverLimit(const StagePartition &partition) const;
  int64_t nextLoad(int64_t least) const;
  void findLeastTime(StagePartition &best);
  int64_t searched() const { return search.searched(); }

private:
  StageSearch::Answer fit(int64_t timeLimit, int64_t memoryLimit) {
    return search.fit(timeLimit, memoryLimit, limits::maxStageSearch);
  }
  /// Returns an upper bound of the memory of a device in bytes.
  int64_t mostBytes() const {
    return memory.all() + problem.keptOn(0) * saved.all();
  }
  void takeFound(StagePartition &best, int64_t mostBytes);
  void replace(StagePartition &best, std::vector<LayerRange> ranges) const;
  void findLeastMemory(StagePartition &best, Picoseconds timeLimit);
  StagePartition findFitting(StageSearch::Answer answer);
  StagePartition improve(StagePartition best);
  std::string enoughStages(int64_t interleave) const;
  std::string whatWouldDo() const;

  const StagingProblem &problem;
  LayerSums time, memory, saved;
  StageSearch search;
  int64_t memoryLimit;
};

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_PARTITIONER_H
