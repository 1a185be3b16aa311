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

/// Moves layers of a split while that helps: a device gives the layer at one
/// end of a range to the next range, which gives one to the next, and so on to
/// some range, where then all devices concerned take less time than the giver
/// did, and at most `memoryLimit`. Heaviest givers first.
void evenOut(const StagingProblem &problem, int64_t memoryLimit,
             StagePartition &partition);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_EVENOUT_H
