//===- Stages.h - Which devices execute what, and when ----------*- C++ -*-===//
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

#include <optional>

namespace autopar::interpreter {

/// A tensor on all devices; empty on those that have nothing of it.
using DeviceTensors = std::vector<LocalTensor>;

/// The forward of a microbatch on a virtual stage, or its backward.
struct StageTask {
  int64_t stage = 0, microbatch = 0;
  bool isBackward = false;

  /// The task that is sent what this one hands on.
  StageTask next() const {
    return {stage + (isBackward ? -1 : 1), microbatch, isBackward};
  }
  /// A task comes behind those that it waits for.
  bool operator<(const StageTask &other) const {
    if (isBackward != other.isBackward)
      return other.isBackward;
    if (stage != other.stage)
      return (stage < other.stage) != isBackward;
    return microbatch < other.microbatch;
  }
};

/// The tasks of the devices at each place of the stages' axis, in order.
using StageOrders = std::vector<std::vector<StageTask>>;

/// What a stage sends of a microbatch: the next one, or in a backward the one
/// before it.
struct StageMessage {
  struct Part {
    mlir::Value value;
    DeviceTensors tensors;
    /// Which part of what the sender was sent itself, -1 of none.
    int64_t received = -1;
  };
  /// Who is sent it, and the place of the devices that send it.
  StageTask to;
  int64_t from = 0;
  std::vector<Part> parts;
};

/// A function whose ops are those of several stages: its layers, those of the
/// loops of its stack, as `parallel.stages` says; what lies before them is of
/// the stage that begins, what lies behind of the one that ends.
struct StagedFunction {
  mlir::func::FuncOp function;
  /// The loops, in the order in which they run.
  llvm::SmallVector<mlir::Operation *> stack;

  bool isStack(mlir::Operation *op) const {
    return llvm::is_contained(stack, op);
  }
  bool isBeforeStack(mlir::Operation *op) const {
    return op->isBeforeInBlock(stack.front());
  }
};

/// The `parallel.stages` of a module, and what follows from it. A backward runs
/// the layers from the last one on: its layer i is that of the forward with
/// the number `layers() - 1 - i`, and the last stage begins.
class StageTable {
public:
  explicit StageTable(mlir::func::FuncOp entry)
      : forward{entry, {}},
        borders(mlir::cast<mlir::FunctionOpInterface>(*entry)) {}

  /// Null where the module has none. Errors are emitted: layers that the model
  /// does not have, an axis that splits tensors, a schedule that does not exist
  /// for these numbers, a backward that is not one of the same layers.
  static mlir::FailureOr<std::unique_ptr<StageTable>>
  create(mlir::ModuleOp module, mlir::func::FuncOp entry);

  mlir::Location loc() { return op.getLoc(); }
  mlir::StringAttr axis() {
    return mlir::cast<mlir::StringAttr>(op.getAxes()[0]);
  }
  int64_t microbatches() { return static_cast<int64_t>(op.getMicrobatches()); }
  int64_t lastStage() const { return static_cast<int64_t>(ranges.size()) - 1; }
  int64_t layers() const { return ranges.back().end; }
  /// Forwards, and backwards where the step trains.
  StageOrders orders(bool trains) const;

  StagedFunction &functionOf(StageTask task) {
    return task.isBackward ? backward : forward;
  }
  /// Which layers of its function a task runs.
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
  /// What stages hand on, in either function.
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
