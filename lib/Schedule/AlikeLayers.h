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
/// the first and on the last device, so that the load of a device depends only
/// on its number of layers.
class AlikeLayers {
public:
  /// `count` layers on the stages of `shape`, which outlives this. `first` and
  /// `last` are the additional loads of the first and the last stage beside
  /// layers like `each`.
  AlikeLayers(const StagingProblem &shape, const LayerCost &each,
              const LayerCost &first, const LayerCost &last, int64_t count)
      : shape(shape), each(each), first(first), last(last), count(count) {}

  /// The load of `device` with that many layers: time, and memory with values
  /// of microbatches.
  LayerCost loadOf(int64_t device, int64_t layers) const;
  /// Fills `behind` with the number of layers that fit on each device and those
  /// behind it. False if the limits certainly cannot be met.
  bool findRooms(Picoseconds timeLimit, int64_t memoryLimit,
                 std::vector<int64_t> &behind) const;
  /// Whether equal numbers are the only optimal split: the ends differ from
  /// other stages by less than a layer.
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

/// The best split of alike layers in equal numbers, if it is the only best one
/// and within the memory limit; else nothing.
std::optional<StagePartition> evenSplit(const StagingProblem &problem);

/// Finds the heaviest device of a partition whose devices have their sums.
void findHeaviest(StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_ALIKELAYERS_H
