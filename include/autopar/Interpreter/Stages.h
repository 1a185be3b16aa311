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

/// A tensor on all devices; empty on devices that have no part of it.
using DeviceTensors = std::vector<LocalTensor>;

/// The forward, or the backward, of a microbatch on a virtual stage.
struct StageTask {
  int64_t stage = 0, microbatch = 0;
  bool isBackward = false;

  /// The task that receives this task's output.
  StageTask next() const {
    return {stage + (isBackward ? -1 : 1), microbatch, isBackward};
  }
  /// Orders a task behind the tasks that it waits for.
  bool operator<(const StageTask &other) const {
    if (isBackward != other.isBackward)
      return other.isBackward;
    if (stage != other.stage)
      return (stage < other.stage) != isBackward;
    return microbatch < other.microbatch;
  }
};

/// The tasks, in order, of the devices at each place of the stages' axis.
using StageOrders = std::vector<std::vector<StageTask>>;

/// The message of a stage about a microbatch: to the next stage or, in a
/// backward, to the previous one.
struct StageMessage {
  struct Part {
    mlir::Value value;
    DeviceTensors tensors;
    /// Index in the message that the sender itself received, -1 for other
    /// values.
    int64_t received = -1;
  };
  /// The task that receives it, and the place of the sending devices.
  StageTask to;
  int64_t from = 0;
  std::vector<Part> parts;
};

/// A function whose ops belong to several stages. Layers, those of the loops of
/// its stack, are divided by `parallel.stages`; ops before them belong to the
/// first stage to run, ops behind them to the last.
struct StagedFunction {
  mlir::func::FuncOp function;
  /// The loops in execution order.
  llvm::SmallVector<mlir::Operation *> stack;

  bool isStack(mlir::Operation *op) const {
    return llvm::is_contained(stack, op);
  }
  bool isBeforeStack(mlir::Operation *op) const {
    return op->isBeforeInBlock(stack.front());
  }
};

/// The `parallel.stages` of a module, and the derived tables. A backward runs
/// the layers in reverse: its layer i is number `layers() - 1 - i` of the
/// forward, and the last stage begins.
class StageTable {
public:
  explicit StageTable(mlir::func::FuncOp entry)
      : forward{entry, {}},
        borders(mlir::cast<mlir::FunctionOpInterface>(*entry)) {}

  /// Null if the module has none. Errors are emitted: layers that the model
  /// does not have, an axis that splits tensors, a schedule that does not exist
  /// for these numbers, a backward with other layers.
  static mlir::FailureOr<std::unique_ptr<StageTable>>
  create(mlir::ModuleOp module, mlir::func::FuncOp entry);

  mlir::Location loc() { return op.getLoc(); }
  mlir::StringAttr axis() {
    return mlir::cast<mlir::StringAttr>(op.getAxes()[0]);
  }
  int64_t microbatches() { return static_cast<int64_t>(op.getMicrobatches()); }
  int64_t lastStage() const { return static_cast<int64_t>(ranges.size()) - 1; }
  int64_t layers() const { return ranges.back().end; }
  /// The order of forwards, and of backwards if the step trains.
  StageOrders orders(bool trains) const;

  StagedFunction &functionOf(StageTask task) {
    return task.isBackward ? backward : forward;
  }
  /// The layers of its function that a task runs.
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
  /// Values that stages hand on, in either function.
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
