//===- StagePart.h - A stage's part of a walk -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_STAGEPART_H
#define AUTOPAR_LIB_INTERPRETER_STAGEPART_H

#include "StageRunner.h"

namespace autopar::interpreter {

/// The state of one walk over the module's function, or over its backward, of
/// which a stage executes its part.
struct Execution::StagePart {
  StagePart(StageTask task, StageTable &table, const StageMessage &received)
      : task(task), staged(table.functionOf(task)), range(table.range(task)),
        received(received) {}

  /// Follows a value through the arguments of calls to its source.
  mlir::Value sourceOf(mlir::Value value) const {
    for (auto it = passed.find(value); it != passed.end();
         it = passed.find(value))
      value = it->second;
    return value;
  }

  StageTask task;
  StagedFunction &staged;
  /// The layers of that function.
  schedule::LayerRange range;
  const StageMessage &received;
  StageRunner::Outcome outcome;
  /// Number of layers that the walk has passed.
  int64_t layers = 0;
  /// The surrounding loops of layers that are in their last iterations.
  llvm::SmallVector<mlir::Operation *> ending;
  /// Operands of the latest calls, by argument of the callee.
  llvm::DenseMap<mlir::Value, mlir::Value> passed;
  /// Whether the walk is inside something that the stage executes: a layer, an
  /// encoder.
  bool isWithin = false;
  /// Whether it is behind the stage's last layer, and behind all layers.
  bool isDone = false, isBehindLayers = false;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_STAGEPART_H
