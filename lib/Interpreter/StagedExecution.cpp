//===- StagedExecution.cpp - A module over pipeline stages ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Placement.h"
#include "StagePart.h"

#include "autopar/Analysis/StageBorders.h"
#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/IR/AsmState.h"

using namespace autopar;
using namespace mlir;

LocalTensor autopar::joinBatch(ArrayRef<LocalTensor> parts,
                               std::optional<unsigned> dim) {
  auto count = static_cast<int64_t>(parts.size());
  if (!dim || count == 1)
    return parts.front();
  LocalTensor batch(InBatch(parts.front().shape, dim, 0, count).shapeOfBatch());
  for (int64_t i = 0; i < count; ++i) {
    InBatch place(parts[i].shape, dim, i, count);
    for (int64_t at = 0; at < parts[i].size(); ++at)
      batch.data[place(at)] = parts[i].data[at];
  }
  return batch;
}

//===----------------------------------------------------------------------===//
// What a stage needs
//===----------------------------------------------------------------------===//

/// As the text has it: "%norm".
static std::string textOf(Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Operation *scope = value.getParentRegion()->getParentOp();
  while (!scope->hasTrait<OpTrait::IsIsolatedFromAbove>())
    scope = scope->getParentOp();
  AsmState state(scope);
  value.printAsOperand(os, state);
  return text;
}

/// Whether `op` does something with its operands, other than to pass them on.
static bool readsOperands(Operation *op, Operation *entry) {
  if (isa<func::ReturnOp>(op))
    return op->getParentOp() == entry;
  return !isa<func::CallOp, transformer::RepeatOp, transformer::YieldOp>(op);
}

/// Makes what `op` takes of weights and inputs, each stage its own. Fails where
/// it reads what the stage has not computed and was not sent.
LogicalResult Execution::demand(Operation *op) {
  bool reads = readsOperands(op, function);
  for (Value operand : op->getOperands()) {
    auto held = values.find(operand);
    Value source = part->sourceOf(operand);
    if (held != values.end()) {
      if (reads && held->second.received >= 0)
        part->outcome.read[held->second.received] = true;
    } else if (isGiven(source)) {
      if (failed(makeGiven(source)))
        return failure();
    } else if (reads) {
      InFlightDiagnostic error = op->emitError("on stage ");
      error << part->task.stage << " reads " << textOf(source)
            << ", which stage " << part->task.stage - 1 << " did not send it";
      error.attachNote(source.getLoc()) << "is computed here";
      return error;
    }
  }
  return success();
}

/// Makes what stages have without being sent it.
LogicalResult Execution::makeGiven(Value value) {
  if (values.count(value))
    return success();
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    if (failed(makeGiven(operand)))
      return failure();
  // Not in the order of the text, in which values are compared.
  bool wasTraced = std::exchange(traced, false);
  LogicalResult made = compute(op);
  traced = wasTraced;
  return made;
}

/// Takes over what the devices at the sender's place have computed.
void Execution::receive() {
  const StageMessage &message = part->received;
  for (auto [i, sent] : llvm::enumerate(message.parts)) {
    Held held{DeviceTensors(grid->size()), static_cast<int64_t>(i)};
    for (int64_t device : grid->active())
      held.tensors[device] =
          sent.tensors[grid->groupOf(device, table->axis())[message.from]];
    values[sent.value] = std::move(held);
  }
}

LogicalResult Execution::send(ArrayRef<Value> sent) {
  StageMessage &message = part->outcome.sent;
  message.to = {part->task.stage + 1, part->task.microbatch};
  message.from = grid->placeOf(grid->active().front(), table->axis());
  for (Value value : sent) {
    auto held = values.find(value);
    if (held == values.end())
      return emitError(value.getLoc(), "is to be sent to stage ")
             << message.to.stage << ", and stage " << part->task.stage
             << " does not have it";
    for (int64_t device : grid->active())
      sentBytes[device] += bytesOf(value, held->second.tensors[device]);
    message.parts.push_back(
        {value, held->second.tensors, held->second.received});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The part of the text that a stage runs
//===----------------------------------------------------------------------===//

LogicalResult Execution::runWithin(Operation *op) {
  part->isWithin = true;
  LogicalResult result = runOp(op);
  part->isWithin = false;
  return result;
}

/// A layer of the stack: of this stage, of one before it or of one behind it.
LogicalResult Execution::runLayer(Operation *call) {
  int64_t number = part->layers++;
  if (number == part->range.begin)
    receive();
  if (number == part->range.end) {
    part->isDone = true;
    StageBorders borders(cast<FunctionOpInterface>(function));
    if (failed(send(borders.findSent(call, part->ending))))
      return failure();
  }
  if (number >= part->range.begin && number < part->range.end)
    return runWithin(call);
  if (nextLayer)
    ++*nextLayer;
  return success();
}

/// Before `op`, the first behind all layers: the last stage may have none of
/// them.
LogicalResult Execution::leaveLayers(Operation *op) {
  if (part->isDone || std::exchange(part->isBehindLayers, true))
    return success();
  int64_t layers = table->range(table->lastStage()).end;
  if (part->range.begin == layers)
    receive();
  if (part->range.end != layers || part->task.stage == table->lastStage())
    return success();
  part->isDone = true;
  StageBorders borders(cast<FunctionOpInterface>(function));
  return send(borders.findSentBehind(op));
}

/// An op of the module's function, or of the loops of layers.
LogicalResult Execution::runPlaced(Operation *op) {
  if (table->isStack(op))
    return runRepeat(op);
  if (op->getParentOp() != function.getOperation())
    return isa<transformer::RepeatOp>(op) ? runRepeat(op) : runLayer(op);
  if (!table->isBeforeStack(op) && failed(leaveLayers(op)))
    return failure();
  if (part->isDone || (op->getNumResults() == 1 && isGiven(op->getResult(0))))
    return success();
  bool runs = !table->isBeforeStack(op) || part->task.stage == 0;
  return runs ? runWithin(op) : success();
}

LogicalResult Execution::runStage(StagePart &own) {
  part = &own;
  values.clear();
  microbatch = own.task.microbatch;
  Block &body = function.getBody().front();
  LogicalResult result = runBlock(body, inputsOf(function));
  if (succeeded(result))
    result = leaveLayers(body.getTerminator());
  if (succeeded(result) && !own.isDone) {
    result = demand(body.getTerminator());
    if (succeeded(result))
      result = addResults();
  }
  part = nullptr;
  return result;
}

LogicalResult Execution::runStages() {
  StageRunner runner(*table, executor);
  return runner.run(
      [&](StageTask task, int64_t place,
          const StageMessage &received) -> FailureOr<StageRunner::Outcome> {
        StagePart own(task, table->range(task.stage), received);
        own.outcome.read.resize(received.parts.size());
        grid->enter(table->axis(), place);
        size_t traceBegin = entryParts[task.microbatch].size();
        if (failed(runStage(own)))
          return failure();
        for (TraceEntry &entry :
             llvm::drop_begin(entryParts[task.microbatch], traceBegin))
          entry.stage = task.stage;
        return std::move(own.outcome);
      });
}
