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

/// Has each microbatch go once through each stage, and back where the step
/// trains, in the order of the schedule and as soon as its input has come. A
/// backward makes gradients of weights, too, where a schedule has them apart.
class StageRunner {
public:
  /// What a stage did with a microbatch: which parts of what it was sent it
  /// read, and what it sends; nothing of the last one.
  struct Outcome {
    std::vector<char> read;
    StageMessage sent;
  };
  /// Executes a task at a place of the stages' axis, with what it was sent.
  using Execute = llvm::function_ref<mlir::FailureOr<Outcome>(
      StageTask, int64_t place, const StageMessage &)>;

  StageRunner(StageTable &table, Executor &executor, bool trains)
      : table(table), executor(executor), trains(trains) {}

  /// Errors are emitted: tasks that wait for ever, are done twice or not at
  /// all; values that are sent and that nobody reads.
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
