//===- CompressedRows.h - Rows of several tokens ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_COMPRESSEDROWS_H
#define AUTOPAR_LIB_INTERPRETER_COMPRESSEDROWS_H

#include "autopar/Interpreter/Execution.h"

namespace autopar::interpreter {

/// Returns the part of a KV cache that a device has; null, after an error, if a
/// collective moved the cache.
CachedTokens *findRows(mlir::Operation *op, Device &device, mlir::Value cache);

/// Appends the compressed rows in `tokens`: each row stands at the token that
/// ends its window of `ratio` tokens, and each token of the window stores a
/// part of the row.
mlir::LogicalResult appendWindows(mlir::Operation *op, Device &device,
                                  mlir::Value cache, mlir::Value tokens,
                                  int64_t ratio);

/// Returns the compressed row of window `window` of one sequence, joined from
/// the parts that its tokens store.
mlir::FailureOr<std::vector<double>> readWindow(mlir::Operation *op,
                                                const CachedTokens &rows,
                                                int64_t window, int64_t ratio,
                                                int64_t batch);

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_COMPRESSEDROWS_H
