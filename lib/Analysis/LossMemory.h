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

/// Returns into how many chunks the tokens of `value` are divided, of which one
/// exists at a time: those of the loss if `value` holds scores for it or their
/// gradient, else 1.
int64_t lossChunksOf(mlir::Value value);

/// Whether `op` writes its result over its first operand.
bool replacesScores(mlir::Operation *op);

/// Returns the number of further copies of the result of `op` that exist while
/// it runs (`LossForm::eager`).
int64_t copiesInLoss(mlir::Operation *op);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_LOSSMEMORY_H
