//===- StageLayout.h - Layers of a program on stages ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_STAGELAYOUT_H
#define AUTOPAR_COST_STAGELAYOUT_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Schedule/Staging.h"

namespace autopar::cost {

/// Lays out the layers of `program` as `schedule::layOutStages` does, and
/// leaves those that have a cache in common on one stage. `order` has the
/// layers of the program, `problem` their costs.
Result<schedule::StagePartition>
layOutLayers(const program::CostProgram &program,
             const std::vector<uint32_t> &order,
             schedule::StagingProblem problem);

} // namespace autopar::cost

#endif // AUTOPAR_COST_STAGELAYOUT_H
