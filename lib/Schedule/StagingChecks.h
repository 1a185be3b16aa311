//===- StagingChecks.h - Checks of stagings ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_STAGINGCHECKS_H
#define AUTOPAR_LIB_SCHEDULE_STAGINGCHECKS_H

#include "autopar/Schedule/Staging.h"

namespace autopar::schedule {

/// Returns a text about the shape: "16 stages with interleave 2".
std::string shapeText(int64_t stages, int64_t interleave);

/// Returns the error in the shape, the costs or the limit of `problem`; nothing
/// if there is none.
std::optional<Error> checkProblem(const StagingProblem &problem);

/// Returns the error of `ranges` as the virtual stages of a checked problem;
/// nothing if there is none.
std::optional<Error> checkRanges(const StagingProblem &problem,
                                 const std::vector<LayerRange> &ranges);

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_STAGINGCHECKS_H
