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

/// A number of tokens that is given must be positive; `what` has it.
mlir::LogicalResult verifyLimit(mlir::Operation *op, llvm::StringRef what,
                                std::optional<uint64_t> tokens);

/// `what` must be positive and finite.
mlir::LogicalResult verifyPositive(mlir::Operation *op, llvm::StringRef what,
                                   const llvm::APFloat &value);

/// Dimensions `first` and following of `tensor` must be numbers.
mlir::LogicalResult verifyNumbers(mlir::Operation *op, mlir::Value tensor,
                                  unsigned first);

/// Neighbours among `tokens` must be as many as one of `merged` is made of, and
/// have its elements side by side or, with `isMean`, their mean.
mlir::LogicalResult verifyMerge(mlir::Operation *op, mlir::Value tokens,
                                mlir::Value merged, bool isMean);

/// The number that dimension `dim` of `tensor` is.
int64_t sizeOf(mlir::Value tensor, unsigned dim);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_VERIFIERS_H
