//===- Verifiers.h - Checks that several ops make ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_VERIFIERS_H
#define AUTOPAR_DIALECT_TRANSFORMER_VERIFIERS_H

#include "autopar/Dialect/Transformer/Transformer.h"

namespace autopar::transformer {

/// Verifies that a limit in tokens, if it is given, is positive; `what` names
/// the limit in the error.
mlir::LogicalResult verifyLimit(mlir::Operation *op, llvm::StringRef what,
                                std::optional<uint64_t> tokens);

/// Verifies that `value` is positive and finite; `what` names it in the error.
mlir::LogicalResult verifyPositive(mlir::Operation *op, llvm::StringRef what,
                                   const llvm::APFloat &value);

/// Verifies that the dimensions of `tensor` from `first` on are numbers.
mlir::LogicalResult verifyNumbers(mlir::Operation *op, mlir::Value tensor,
                                  unsigned first);

/// Verifies that each token of `merged` consists of a whole number of
/// neighbours in `tokens`, and holds their elements side by side or, with
/// `isMean`, their mean.
mlir::LogicalResult verifyMerge(mlir::Operation *op, mlir::Value tokens,
                                mlir::Value merged, bool isMean);

/// Returns the op that names the cache of `handle`, through the ops that pass
/// the handle on; null if there is none.
KVCacheOp cacheOf(mlir::Value handle);

/// Emits an error on `op` if `cache` keeps fewer than the last `seen` tokens;
/// without `seen`, the op sees all tokens.
mlir::LogicalResult verifyKeepsSeen(mlir::Operation *op, mlir::Value cache,
                                    std::optional<uint64_t> seen);

/// Returns the number of elements in dimension `dim` of `tensor`, which must be
/// a number.
int64_t sizeOf(mlir::Value tensor, unsigned dim);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_VERIFIERS_H
