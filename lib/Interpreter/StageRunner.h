//===- StageRunner.h - Microbatches through stages --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_STAGERUNNER_H
#define AUTOPAR_LIB_INTERPRETER_STAGERUNNER_H

#include "autopar/Interpreter/Execution.h"

namespace autopar::interpreter {

/// Sends each microbatch once through each stage, and back if the step trains,
/// in the order of the schedule and as soon as its input has arrived. If a
/// schedule separates the gradients of weights, the backward still makes them.
class StageRunner {
public:
  /// The outcome of a task: which parts of the received message it read, and
  /// the message that it sends; none from the last stage.
  struct Outcome {
    std::vector<char> read;
    StageMessage sent;
  };
  /// Executes a task at a place of the stages' axis, with its received message.
  using Execute = llvm::function_ref<mlir::FailureOr<Outcome>(
      StageTask, int64_t place, const StageMessage &)>;

  StageRunner(StageTable &table, Executor &executor, bool trains)
      : table(table), executor(executor), trains(trains) {}

  /// Errors are emitted: tasks that wait for ever, run twice or never; values
  /// that are sent but never read.
  mlir::LogicalResult run(Execute execute);

private:
  mlir::LogicalResult execute(StageTask task, int64_t place, Execute execute);
  mlir::LogicalResult deliver(StageMessage &message);
  mlir::LogicalResult verifyDone(const StageOrders &orders,
                                 llvm::ArrayRef<size_t> next);
  mlir::LogicalResult verifyRead();
  bool canStart(StageTask task) const {
    StageTask forward{task.stage, task.microbatch};
    return (table.begins(task) || inbox.count(task)) &&
           (!task.isBackward || done.count(forward));
  }

  StageTable &table;
  Executor &executor;
  bool trains;
  std::map<StageTask, StageMessage> inbox;
  std::map<StageTask, Outcome> done;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_STAGERUNNER_H
