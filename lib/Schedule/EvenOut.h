//===- EvenOut.h - Layers from longer to shorter devices --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_EVENOUT_H
#define AUTOPAR_LIB_SCHEDULE_EVENOUT_H

#include "autopar/Schedule/Staging.h"

#include <algorithm>
#include <numeric>

namespace autopar::schedule {

inline void add(const LayerCost &cost, LayerCost &sum) {
  sum.timePs += cost.timePs;
  sum.memoryBytes += cost.memoryBytes;
}

/// Indices of times, the longest time first and equal times in the order of
/// their indices. Sorting again is fast if few times have changed.
class LongestFirst {
public:
  explicit LongestFirst(size_t count) : indices(count) {
    std::iota(indices.begin(), indices.end(), 0);
  }

  template <typename TimeOf>
  const std::vector<int64_t> &sort(TimeOf timeOf) {
    auto isBefore = [&](int64_t a, int64_t b) {
      Picoseconds first = timeOf(a), second = timeOf(b);
      return first != second ? first > second : a < b;
    };
    if (!wasSorted)
      std::sort(indices.begin(), indices.end(), isBefore);
    else
      insertEach(isBefore);
    wasSorted = true;
    return indices;
  }

private:
  template <typename IsBefore>
  void insertEach(IsBefore isBefore) {
    for (size_t i = 1; i < indices.size(); ++i) {
      int64_t index = indices[i];
      size_t to = i;
      for (; to > 0 && isBefore(index, indices[to - 1]); --to)
        indices[to] = indices[to - 1];
      indices[to] = index;
    }
  }

  std::vector<int64_t> indices;
  bool wasSorted = false;
};

/// Returns the time in ps of every layer but the first and the last, which stay
/// in their ranges; 0 if layers differ.
Picoseconds timeOfEach(const StagingProblem &problem);

/// Moves layers of a split as long as this helps. A device gives the layer at
/// one end of a range to the next range, which gives one to the range after it,
/// and so on, until all devices that took part take less time than the first
/// one did, and at most `memoryLimit` bytes. The heaviest devices give first.
void evenOut(const StagingProblem &problem, int64_t memoryLimit,
             StagePartition &partition);

/// Returns the ranges of an interleaved split after the ranges of each device
/// were evened out, because short ranges wait for long ones. No device takes
/// more time than the heaviest did, or more bytes than `memoryLimit`.
std::vector<LayerRange> evenRounds(const StagingProblem &problem,
                                   int64_t memoryLimit,
                                   const StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_EVENOUT_H
