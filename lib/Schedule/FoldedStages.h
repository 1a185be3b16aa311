//===- FoldedStages.h - Two stages on each device ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_FOLDEDSTAGES_H
#define AUTOPAR_LIB_SCHEDULE_FOLDEDSTAGES_H

#include "autopar/Schedule/Staging.h"

namespace autopar::schedule {

/// Returns the partition with the `ranges` of a folded problem, with the loads
/// of its devices. The lower bound is the mean time.
StagePartition describeFolded(const StagingProblem &problem,
                              std::vector<LayerRange> ranges);

/// Moves the ends of ranges, one or two at a time, as long as this lowers first
/// the memory above `memoryLimit`, then the longest time, then the sum of
/// squares of times.
std::vector<LayerRange> balanceFolded(const StagingProblem &problem,
                                      int64_t memoryLimit,
                                      std::vector<LayerRange> ranges);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_FOLDEDSTAGES_H
