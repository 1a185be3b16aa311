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

/// What a device has of a cache; null, after an error, where that was moved.
CachedTokens *findRows(mlir::Operation *op, Device &device, mlir::Value cache);

/// Appends the rows of `tokens` at which a window of `ratio` tokens ends, to
/// each token of the window its part.
mlir::LogicalResult appendWindows(mlir::Operation *op, Device &device,
                                  mlir::Value cache, mlir::Value tokens,
                                  int64_t ratio);

/// The row that the tokens of a window have together, of one sequence.
mlir::FailureOr<std::vector<double>> readWindow(mlir::Operation *op,
                                                const CachedTokens &rows,
                                                int64_t window, int64_t ratio,
                                                int64_t batch);

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_COMPRESSEDROWS_H
