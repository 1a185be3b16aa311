//===- AlikeLayers.h - Stacks of which only numbers count -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_ALIKELAYERS_H
#define AUTOPAR_LIB_SCHEDULE_ALIKELAYERS_H

#include "autopar/Schedule/Staging.h"

namespace autopar::schedule {

/// Layers of which all but the first and the last are alike. Those two are on
/// the first device and on the last: what a device has depends on how many
/// layers that is, not on which.
class AlikeLayers {
public:
  /// `count` layers on the stages of `shape`, which outlives this. `first` and
  /// `last`: what the first stage and the last have beside layers like `each`.
  AlikeLayers(const StagingProblem &shape, const LayerCost &each,
              const LayerCost &first, const LayerCost &last, int64_t count)
      : shape(shape), each(each), first(first), last(last), count(count) {}

  /// What `device` has with so many layers: time, and memory with values of
  /// microbatches.
  LayerCost loadOf(int64_t device, int64_t layers) const;
  /// Fills `behind` with how many layers each device and those behind it have
  /// room for. False where the limits cannot be met for sure.
  bool findRooms(Picoseconds timeLimit, int64_t memoryLimit,
                 std::vector<int64_t> &behind) const;
  /// Whether equal numbers are the only split that is as good: the ends differ
  /// from other stages by less than a layer.
  bool isEvenBest() const;

private:
  int64_t mostOn(int64_t device, Picoseconds timeLimit,
                 int64_t memoryLimit) const;

  const StagingProblem &shape;
  LayerCost each, first, last;
  int64_t count;
};

inline LayerCost operator+(const LayerCost &a, const LayerCost &b) {
  return {a.timePs + b.timePs, a.memoryBytes + b.memoryBytes,
          a.savedBytes + b.savedBytes};
}
inline LayerCost operator-(const LayerCost &a, const LayerCost &b) {
  return {a.timePs - b.timePs, a.memoryBytes - b.memoryBytes,
          a.savedBytes - b.savedBytes};
}

/// The best split of alike layers in equal numbers, where it is the only one
/// and within the memory limit, or nothing is.
std::optional<StagePartition> evenSplit(const StagingProblem &problem);

/// Of a partition whose devices have their sums: which is the heaviest.
void findHeaviest(StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_ALIKELAYERS_H
