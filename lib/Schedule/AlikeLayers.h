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

/// Layers that are all alike except the first and the last. These two are on
/// the first and on the last device, so that the load of a device depends only
/// on its number of layers.
class AlikeLayers {
public:
  /// Describes `count` layers on the stages of `shape`, which must outlive the
  /// object. `first` and `last` are the loads that the first and the last stage
  /// have in addition to layers like `each`.
  AlikeLayers(const StagingProblem &shape, const LayerCost &each,
              const LayerCost &first, const LayerCost &last, int64_t count)
      : shape(shape), each(each), first(first), last(last), count(count) {}

  /// Returns the load of `device` with `layers` layers: its time, and its
  /// memory including the values that it keeps of microbatches.
  LayerCost loadOf(int64_t device, int64_t layers) const;
  /// Fills `behind` with the number of layers that fit on each device and on
  /// all devices after it. Returns false if it is certain that the limits
  /// cannot be met.
  bool findRooms(Picoseconds timeLimit, int64_t memoryLimit,
                 std::vector<int64_t> &behind) const;
  /// Returns whether equal numbers of layers are the only optimal split: the
  /// first and the last stage differ from the other stages by less than a
  /// layer.
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

/// Returns the best split of alike layers if it has equal numbers, is the only
/// best one, and meets the memory limit; else nothing.
std::optional<StagePartition> evenSplit(const StagingProblem &problem);

/// Finds the heaviest device of a partition, in which the sums of the devices
/// are already set.
void findHeaviest(StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_ALIKELAYERS_H
