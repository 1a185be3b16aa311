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
  /// New tokens of each step, from empty caches; empty: the module's own step.
  std::vector<int64_t> queries;
  /// Sequences, and positions that an encoder reads in the first step; 0: the
  /// module's.
  int64_t batch = 0, encoderTokens = 0;
  InputRule inputs = InputRule::step;
  /// Allowed difference, relative to the largest element of a value.
  double tolerance = 1e-9;
  bool showsHoldings = false;
  /// Whether inner values are compared too, not only results of steps.
  bool comparesValues = true;
  /// Number of training iterations.
  int64_t iterations = 1;
};

/// Executes the steps of `file`, one module or two with a link, and writes the
/// results. With `whole`, the unsplit module, it compares each value instead.
/// Errors are emitted: the first value that differs, its place, and the
/// difference.
mlir::LogicalResult runModule(mlir::ModuleOp file, mlir::ModuleOp whole,
                              const RunOptions &options, llvm::raw_ostream &os);

/// Compares the gradients of a training module with differences of the loss,
/// for `count` elements of each weight. Errors are emitted: the weight with the
/// largest difference.
mlir::LogicalResult checkGradients(mlir::ModuleOp module,
                                   const RunOptions &options, int64_t count,
                                   llvm::raw_ostream &os);

/// The same for all elements of all weights at once, by the derivative of the
/// loss along a random direction.
mlir::LogicalResult checkDirection(mlir::ModuleOp module,
                                   const RunOptions &options,
                                   llvm::raw_ostream &os);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_RUNMODULE_H
