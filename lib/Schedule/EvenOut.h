//===- EvenOut.h - Layers from longer to shorter devices --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_EVENOUT_H
#define AUTOPAR_LIB_SCHEDULE_EVENOUT_H

#include "autopar/Schedule/Staging.h"

namespace autopar {

inline void add(const LayerCost &cost, LayerCost &sum) {
  sum.timePs += cost.timePs;
  sum.memoryBytes += cost.memoryBytes;
}

/// The time of every layer but the first and the last, which stay in their
/// ranges; 0 where they differ.
Picoseconds timeOfEach(const StagingProblem &problem);

/// Moves layers of a split while that helps: a device gives the layer at one
/// end of a range to the next range, which gives one to the next, and so on to
/// some range, where then all devices concerned take less time than the giver
/// did, and at most `memoryLimit`. Heaviest givers first.
void evenOut(const StagingProblem &problem, int64_t memoryLimit,
             StagePartition &partition);

/// The ranges of a split with interleaving, of which those of a device are made
/// as long as each other while no device takes more time than the heaviest did,
/// or more than `memoryLimit`: short ranges wait for long ones.
std::vector<LayerRange> evenRounds(const StagingProblem &problem,
                                   int64_t memoryLimit,
                                   const StagePartition &partition);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_EVENOUT_H
