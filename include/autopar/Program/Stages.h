//===- Stages.h - Parts of a cost program -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_STAGES_H
#define AUTOPAR_PROGRAM_STAGES_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Support/Result.h"

namespace autopar {

/// The layers of the stack in order, each an index into `LayerStack::layers`.
/// Errors: a program without a stack; more than `limits::maxLayers` layers.
Result<std::vector<uint32_t>> layersInOrder(const CostProgram &program);

/// How often something runs each of `CostProgram::layers`.
using KindCounts = std::vector<int64_t>;

void addKinds(const std::vector<KindCount> &kinds, KindCounts &counts);

/// The part of `program` that runs layer kind i `counts[i]` times in a pass, in
/// a step of `passes` passes. Kernels and collectives count all passes;
/// weights, caches and states count once, also those of other kinds that the
/// part reads. Records keep their indices: those that the part lacks have a
/// count of 0.
CostProgram selectLayers(const CostProgram &program, const KindCounts &counts,
                         int64_t passes);

} // namespace autopar

#endif // AUTOPAR_PROGRAM_STAGES_H
