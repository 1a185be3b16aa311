//===- RunModule.h - Runs steps and compares them ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_RUNMODULE_H
#define AUTOPAR_INTERPRETER_RUNMODULE_H

#include "autopar/Interpreter/Execution.h"

namespace autopar::interpreter {

struct RunOptions {
  /// Number of new tokens of each step to execute, beginning with empty caches;
  /// empty: the step that the module states.
  std::vector<int64_t> queries;
  /// Number of sequences, and of positions that an encoder encodes in the first
  /// step; 0: as the module states.
  int64_t batch = 0, encoderTokens = 0;
  InputRule inputs = InputRule::step;
  /// Largest allowed difference, relative to the largest element of a value.
  double tolerance = 1e-9;
  bool showsHoldings = false;
  /// Whether to compare the values of all ops, and not only the results of
  /// steps.
  bool comparesValues = true;
  /// Number of training iterations to execute.
  int64_t iterations = 1;
};

/// Executes the steps of `file`, which contains one module, or two with a link,
/// and writes the results to `os`. With `whole`, the unsplit module, it
/// compares each value of the two instead. Emits as an error the first value
/// that differs, where it is, and the difference.
mlir::LogicalResult runModule(mlir::ModuleOp file, mlir::ModuleOp whole,
                              const RunOptions &options, llvm::raw_ostream &os);

/// Compares the gradients of a training module with differences of the loss,
/// for `count` elements of each weight. If the largest relative difference is
/// above the tolerance, emits its weight and element as an error; else prints
/// it.
mlir::LogicalResult checkGradients(mlir::ModuleOp module,
                                   const RunOptions &options, int64_t count,
                                   llvm::raw_ostream &os);

/// Compares the gradients of all elements of all weights at once, by the
/// derivative of the loss along a random direction.
mlir::LogicalResult checkDirection(mlir::ModuleOp module,
                                   const RunOptions &options,
                                   llvm::raw_ostream &os);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_RUNMODULE_H
