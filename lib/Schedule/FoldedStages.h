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

/// Sums the loads of `ranges` of a folded problem; the lower bound is the mean.
StagePartition describeFolded(const StagingProblem &problem,
                              std::vector<LayerRange> ranges);

/// Moves the ends of ranges, one or two at a time, while that lowers the memory
/// above `memoryLimit`, then the longest time; then evens out.
std::vector<LayerRange> balanceFolded(const StagingProblem &problem,
                                      int64_t memoryLimit,
                                      std::vector<LayerRange> ranges);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_FOLDEDSTAGES_H
