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

/// Indices of times, the longest first and equal ones in order. Sorted again
/// after few times have changed, they are there at once.
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

/// The time of every layer but the first and the last, which stay in their
/// ranges; 0 if layers differ.
Picoseconds timeOfEach(const StagingProblem &problem);

/// Moves layers of a split while that helps. A device gives the layer at one
/// end of a range to the next range, which gives one to the next, and so on,
/// until all touched devices take less time than the giver did, and at most
/// `memoryLimit`. The heaviest givers come first.
void evenOut(const StagingProblem &problem, int64_t memoryLimit,
             StagePartition &partition);

/// The ranges of an interleaved split, with the ranges of a device evened out
/// while no device takes more time than the heaviest did, or more than
/// `memoryLimit`: short ranges wait for long ones.
std::vector<LayerRange> evenRounds(const StagingProblem &problem,
                                   int64_t memoryLimit,
                                   const StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_EVENOUT_H
