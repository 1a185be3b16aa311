//===- Stages.h - Pipeline stages of an execution ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_STAGES_H
#define AUTOPAR_INTERPRETER_STAGES_H

#include "autopar/Analysis/StageBorders.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interpreter/LocalTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar::interpreter {

/// A tensor on all devices, by device; empty on devices that hold no part of
/// it.
using DeviceTensors = std::vector<LocalTensor>;

/// A task of a pipeline: the forward, or the backward, of one microbatch on one
/// virtual stage.
struct StageTask {
  int64_t stage = 0, microbatch = 0;
  bool isBackward = false;

  /// Returns the task that receives this task's output.
  StageTask next() const {
    return {stage + (isBackward ? -1 : 1), microbatch, isBackward};
  }
  /// Orders tasks so that each comes after the tasks for which it waits.
  bool operator<(const StageTask &other) const {
    if (isBackward != other.isBackward)
      return other.isBackward;
    if (stage != other.stage)
      return (stage < other.stage) != isBackward;
    return microbatch < other.microbatch;
  }
};

/// For the devices at each position of the stages' axis, their tasks in order.
using StageOrders = std::vector<std::vector<StageTask>>;

/// The values that a stage sends for a microbatch: to the next stage or, in a
/// backward, to the previous one.
struct StageMessage {
  struct Part {
    mlir::Value value;
    DeviceTensors tensors;
    /// Index of the value in the message that the sender itself received; -1
    /// for other values.
    int64_t received = -1;
  };
  /// The task that receives the message, and the position of the sending
  /// devices on the stages' axis.
  StageTask to;
  int64_t from = 0;
  std::vector<Part> parts;
};

/// A function whose ops belong to several stages. `parallel.stages` divides the
/// layers, which are called in the loops `stack`; ops before these loops belong
/// to the first stage that runs, ops after them to the last.
struct StagedFunction {
  mlir::func::FuncOp function;
  /// The loops that call the layers, in execution order.
  llvm::SmallVector<mlir::Operation *> stack;

  bool isStack(mlir::Operation *op) const {
    return llvm::is_contained(stack, op);
  }
  bool isBeforeStack(mlir::Operation *op) const {
    return op->isBeforeInBlock(stack.front());
  }
};

/// The `parallel.stages` op of a module, and tables derived from it. A backward
/// runs the layers in reverse: its layer i is layer `layers() - 1 - i` of the
/// forward, and the last stage begins.
class StageTable {
public:
  explicit StageTable(mlir::func::FuncOp entry)
      : forward{entry, {}},
        borders(mlir::cast<mlir::FunctionOpInterface>(*entry)) {}

  /// Reads the stages of a module; null if it has none. Emits errors: layers
  /// that the model does not have, an axis that splits tensors, a schedule that
  /// does not exist for these numbers, a backward with other layers.
  static mlir::FailureOr<std::unique_ptr<StageTable>>
  create(mlir::ModuleOp module, mlir::func::FuncOp entry);

  mlir::Location loc() { return op.getLoc(); }
  mlir::StringAttr axis() {
    return mlir::cast<mlir::StringAttr>(op.getAxes()[0]);
  }
  int64_t microbatches() { return static_cast<int64_t>(op.getMicrobatches()); }
  int64_t lastStage() const { return static_cast<int64_t>(ranges.size()) - 1; }
  int64_t layers() const { return ranges.back().end; }
  /// Returns the tasks of each device in order: forwards and, if the step
  /// trains, backwards.
  StageOrders orders(bool trains) const;

  StagedFunction &functionOf(StageTask task) {
    return task.isBackward ? backward : forward;
  }
  /// Returns the layers that a task runs, as numbers of its function.
  schedule::LayerRange range(StageTask task) const {
    schedule::LayerRange own = ranges[task.stage];
    return task.isBackward
               ? schedule::LayerRange{layers() - own.end, layers() - own.begin}
               : own;
  }
  bool begins(StageTask task) const {
    return task.stage == (task.isBackward ? lastStage() : 0);
  }
  bool ends(StageTask task) const {
    return task.stage == (task.isBackward ? 0 : lastStage());
  }
  /// Returns the analysis of the values that stages send, for forward and
  /// backward.
  analysis::StageBorders &getBorders() { return borders; }

private:
  mlir::LogicalResult readOrders();
  mlir::LogicalResult readBackward(mlir::ModuleOp module);

  parallel::StagesOp op;
  std::vector<schedule::LayerRange> ranges;
  StagedFunction forward, backward;
  analysis::StageBorders borders;
  StageOrders tasks;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_STAGES_H
