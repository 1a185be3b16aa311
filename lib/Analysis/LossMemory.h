//===- LossMemory.h - Copies of scores that a loss holds --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_LOSSMEMORY_H
#define AUTOPAR_LIB_ANALYSIS_LOSSMEMORY_H

#include "mlir/IR/Operation.h"

namespace autopar::analysis {

/// Number of chunks of tokens of which one exists at a time: those of the loss
/// if `value` is scores on their way to it or their gradient, else 1.
int64_t lossChunksOf(mlir::Value value);

/// Whether `op` leaves its result where its first operand was.
bool replacesScores(mlir::Operation *op);

/// Copies of the result of `op` that are live beside it while it runs
/// (`LossForm::eager`).
int64_t copiesInLoss(mlir::Operation *op);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_LOSSMEMORY_H
