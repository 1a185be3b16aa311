//===- StageRunner.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageRunner.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace mlir;

/// Emits an error such as "stage 1 <does> microbatch 0", or "... the backward
/// of microbatch 0".
static LogicalResult fail(StageTable &table, StageTask task, const Twine &does,
                          const Twine &why = "") {
  return emitError(table.loc(), "stage ")
         << task.stage << " " << does
         << (task.isBackward ? " the backward of microbatch " : " microbatch ")
         << task.microbatch << why;
}

LogicalResult StageRunner::deliver(StageMessage &message) {
  executor.send(message);
  if (!inbox.emplace(message.to, message).second)
    return fail(table, message.to, "is sent", " twice");
  // From here on only the list of the sent values is needed, so that their
  // contents are dropped.
  for (StageMessage::Part &part : message.parts)
    part.tensors.clear();
  return success();
}

LogicalResult StageRunner::execute(StageTask task, int64_t place,
                                   Execute execute) {
  if (done.count(task))
    return fail(table, task, "runs", " twice");
  FailureOr<Outcome> outcome = execute(task, place, inbox[task]);
  if (failed(outcome) || (!table.ends(task) && failed(deliver(outcome->sent))))
    return failure();
  // The message stays in the inbox without its contents, so that a second one
  // is noticed.
  inbox[task].parts.clear();
  done.emplace(task, std::move(*outcome));
  return success();
}

LogicalResult StageRunner::verifyDone(const StageOrders &orders,
                                      ArrayRef<size_t> next) {
  for (auto [tasks, at] : llvm::zip(orders, next))
    if (at < tasks.size()) {
      StageTask task = tasks[at];
      if (table.begins(task))
        return fail(table, task, "waits for", ", whose forward is not done");
      int64_t from = task.stage + (task.isBackward ? 1 : -1);
      return fail(table, task, "waits for",
                  ", which stage " + Twine(from) + " does not send before");
    }
  for (bool isBackward : {false, true})
    for (int64_t stage = 0; stage <= table.lastStage(); ++stage)
      for (int64_t i = 0; i < table.microbatches(); ++i) {
        StageTask task{stage, i, isBackward};
        if ((trains || !isBackward) && !done.count(task))
          return fail(table, task, "never runs");
      }
  return success();
}

/// Checks that each sent value is used, from the last stages to the first: it
/// is read, or sent on to a stage that uses it.
LogicalResult StageRunner::verifyRead() {
  for (auto it = done.rbegin(); it != done.rend(); ++it) {
    auto &[task, outcome] = *it;
    for (auto [i, part] : llvm::enumerate(outcome.sent.parts)) {
      StageTask to = outcome.sent.to;
      if (!done.at(to).read[i])
        return emitError(part.value.getLoc(), "is sent to stage ")
               << to.stage << ", which neither reads it nor sends it to one "
               << "that does";
      if (part.received >= 0)
        outcome.read[part.received] = true;
    }
  }
  return success();
}

LogicalResult StageRunner::run(Execute execute) {
  StageOrders orders = table.orders(trains);
  executor.order(orders);
  std::vector<size_t> next(orders.size());
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (size_t place = 0; place < orders.size(); ++place)
      while (next[place] < orders[place].size() &&
             canStart(orders[place][next[place]])) {
        StageTask task = orders[place][next[place]++];
        if (failed(this->execute(task, static_cast<int64_t>(place), execute)))
          return failure();
        goesOn = true;
      }
  }
  return failure(failed(verifyDone(orders, next)) || failed(verifyRead()));
}
