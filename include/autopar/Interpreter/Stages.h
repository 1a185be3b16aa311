//===- Stages.h - Which devices execute what, and when ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_STAGES_H
#define AUTOPAR_INTERPRETER_STAGES_H

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interpreter/LocalTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace autopar {

/// A tensor on all devices; empty on those that have nothing of it.
using DeviceTensors = std::vector<LocalTensor>;

/// A microbatch on a virtual stage.
struct StageTask {
  int64_t stage = 0, microbatch = 0;

  bool operator<(const StageTask &other) const {
    return stage != other.stage ? stage < other.stage
                                : microbatch < other.microbatch;
  }
};

/// The tasks of the devices at each place of the stages' axis, in order.
using StageOrders = std::vector<std::vector<StageTask>>;

/// What a stage sends the next one of a microbatch.
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

/// The `parallel.stages` of a module, and what follows from it.
class StageTable {
public:
  /// Null where the module has none. Errors are emitted: layers that the model
  /// does not have, an axis that splits tensors, a schedule that does not exist
  /// for these numbers.
  static mlir::FailureOr<std::unique_ptr<StageTable>>
  create(mlir::ModuleOp module, mlir::func::FuncOp entry);

  mlir::Location loc() { return op.getLoc(); }
  mlir::StringAttr axis() {
    return mlir::cast<mlir::StringAttr>(op.getAxes()[0]);
  }
  int64_t microbatches() { return static_cast<int64_t>(op.getMicrobatches()); }
  const LayerRange &range(int64_t stage) const { return ranges[stage]; }
  int64_t lastStage() const { return static_cast<int64_t>(ranges.size()) - 1; }
  const StageOrders &orders() const { return tasks; }

  /// Whether `op` is one of the loops whose layers stages divide.
  bool isStack(mlir::Operation *op) const {
    return llvm::is_contained(stack, op);
  }
  bool isBeforeStack(mlir::Operation *op) const {
    return op->isBeforeInBlock(stack.front());
  }

private:
  mlir::LogicalResult readOrders();

  parallel::StagesOp op;
  std::vector<LayerRange> ranges;
  llvm::SmallVector<mlir::Operation *> stack;
  StageOrders tasks;
};

} // namespace autopar

#endif // AUTOPAR_INTERPRETER_STAGES_H
