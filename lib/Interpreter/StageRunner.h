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

/// Executes each microbatch once on each stage, forwards and, if the step
/// trains, backwards: in the order of the schedule, and as soon as the input
/// has arrived. If a schedule separates the gradients of weights, the backward
/// still computes them.
class StageRunner {
public:
  /// The result of a task: which values of the received message it read, and
  /// the message that it sends (none on the last stage).
  struct Outcome {
    std::vector<char> read;
    StageMessage sent;
  };
  /// A function that executes a task at a position on the stages' axis, with
  /// the message that the task received.
  using Execute = llvm::function_ref<mlir::FailureOr<Outcome>(
      StageTask, int64_t place, const StageMessage &)>;

  StageRunner(StageTable &table, Executor &executor, bool trains)
      : table(table), executor(executor), trains(trains) {}

  /// Executes all tasks. Emits errors: tasks that wait for ever, or are
  /// executed twice or never; values that are sent but never read.
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
