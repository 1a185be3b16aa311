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

} // namespace autopar

#endif // AUTOPAR_PROGRAM_STAGES_H
