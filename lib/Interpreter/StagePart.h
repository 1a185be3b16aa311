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

/// The state of one walk through the module's function, or through its
/// backward, in which a stage executes its part.
struct Execution::StagePart {
  StagePart(StageTask task, StageTable &table, const StageMessage &received)
      : task(task), staged(table.functionOf(task)), range(table.range(task)),
        received(received) {}

  /// Returns the source of a value, found through the arguments of calls.
  mlir::Value sourceOf(mlir::Value value) const {
    for (auto it = passed.find(value); it != passed.end();
         it = passed.find(value))
      value = it->second;
    return value;
  }

  StageTask task;
  StagedFunction &staged;
  /// The layers that the stage executes, as numbers of that function.
  schedule::LayerRange range;
  const StageMessage &received;
  StageRunner::Outcome outcome;
  /// How many layers the execution has passed so far.
  int64_t layers = 0;
  /// The loops around the current layer that are in their last iterations.
  llvm::SmallVector<mlir::Operation *> ending;
  /// The operands of the latest calls, by the argument of the called function.
  llvm::DenseMap<mlir::Value, mlir::Value> passed;
  /// Whether the walk is inside something that the stage executes: a layer, or
  /// an encoder.
  bool isWithin = false;
  /// Whether the walk is past the stage's last layer, and past all layers.
  bool isDone = false, isBehindLayers = false;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_STAGEPART_H
