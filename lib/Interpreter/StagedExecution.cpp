//===- StagedExecution.cpp - A module over pipeline stages ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Placement.h"
#include "StagePart.h"

#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/SetVector.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace mlir;

LocalTensor autopar::interpreter::joinBatch(ArrayRef<LocalTensor> parts,
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
// Inputs of a stage
//===----------------------------------------------------------------------===//

/// Returns the name that a value has in the text: "%norm".
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

/// Whether `op` uses its operands, instead of only passing them on.
static bool readsOperands(Operation *op, Operation *entry) {
  if (isa<func::ReturnOp>(op))
    return op->getParentOp() == entry;
  return !isa<func::CallOp, transformer::RepeatOp, transformer::YieldOp>(op);
}

/// Computes the weights and inputs that `op` reads, which each stage has by
/// itself. Fails if the op reads a value that the stage has neither computed
/// nor received.
LogicalResult Execution::demand(Operation *op) {
  bool reads = readsOperands(op, part->staged.function);
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
      error << part->task.stage << " reads " << textOf(source);
      if (table->begins(part->task))
        error << ", which it does not compute";
      else
        error << ", which stage "
              << part->task.stage + (part->task.isBackward ? 1 : -1)
              << " did not send it";
      error.attachNote(source.getLoc()) << "is computed here";
      return error;
    }
  }
  return success();
}

/// Computes a value that each stage has without receiving it, such as a weight,
/// from its operands.
LogicalResult Execution::makeGiven(Value value) {
  if (values.count(value))
    return success();
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    if (failed(makeGiven(operand)))
      return failure();
  // These values are not traced: traces are compared in the order of the text,
  // which is another one.
  bool wasTraced = std::exchange(traced, false);
  LogicalResult made = compute(op);
  traced = wasTraced;
  return made;
}

/// Computes the initial value of a loop of layers, on a stage that runs the
/// loop's first layer or sends to one that does. Values that all stages have
/// are never sent, but the carried value of a loop is.
LogicalResult Execution::makeCarried(ValueRange inits) {
  int64_t next = part->layers;
  if (part->isDone || next < part->range.begin || next > part->range.end)
    return success();
  for (Value init : inits)
    if (Value source = part->sourceOf(init);
        isGiven(source) && failed(makeGiven(source)))
      return failure();
  return success();
}

/// Takes over the values that the devices at the sender's position computed.
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
  message.to = part->task.next();
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
// Running a stage's part of the program
//===----------------------------------------------------------------------===//

LogicalResult Execution::runWithin(Operation *op) {
  part->isWithin = true;
  LogicalResult result = runOp(op);
  part->isWithin = false;
  return result;
}

/// Executes a layer of the stack, if it belongs to this stage.
LogicalResult Execution::runLayer(Operation *call) {
  int64_t number = part->layers++;
  if (number == part->range.begin)
    receive();
  if (number == part->range.end) {
    part->isDone = true;
    if (failed(send(table->getBorders().findSent(call, part->ending))))
      return failure();
  }
  if (number >= part->range.begin && number < part->range.end)
    return runWithin(call);
  if (nextLayer)
    *nextLayer += layerStep;
  return success();
}

/// Executes an op in the loops of layers. An op that is not a layer, such as a
/// sum of gradients, belongs to the stage of the layer before it.
LogicalResult Execution::runInStack(Operation *op) {
  if (isa<transformer::RepeatOp>(op))
    return runRepeat(op);
  if (isa<func::CallOp>(op))
    return runLayer(op);
  int64_t before = std::max<int64_t>(part->layers - 1, 0);
  bool runs = before >= part->range.begin && before < part->range.end;
  return runs && !part->isDone ? runWithin(op) : success();
}

/// Prepares for `op`, the first op after all layers; the last stage may have no
/// layers.
LogicalResult Execution::leaveLayers(Operation *op) {
  if (part->isDone || std::exchange(part->isBehindLayers, true))
    return success();
  if (part->range.begin == table->layers())
    receive();
  if (part->range.end != table->layers() || table->ends(part->task))
    return success();
  part->isDone = true;
  return send(table->getBorders().findSentBehind(op));
}

/// Executes an op of the function that stages divide, or of its loops of
/// layers, if it belongs to this stage.
LogicalResult Execution::runPlaced(Operation *op) {
  StagedFunction &staged = part->staged;
  if (staged.isStack(op))
    return runRepeat(op);
  if (op->getNumResults() == 1 && isGiven(op->getResult(0)))
    return success();
  if (op->getParentOp() != staged.function.getOperation())
    return runInStack(op);
  bool isBefore = staged.isBeforeStack(op);
  if (!isBefore && failed(leaveLayers(op)))
    return failure();
  bool runs = !part->isDone && (!isBefore || table->begins(part->task));
  return runs ? runWithin(op) : success();
}

LogicalResult Execution::runStage(StagePart &own) {
  part = &own;
  values.clear();
  microbatch = own.task.microbatch;
  Operation *end = own.staged.function.getBody().front().getTerminator();
  LogicalResult result = runBlock(*end->getBlock(), inputsOf(function));
  if (succeeded(result))
    result = leaveLayers(end);
  if (succeeded(result) && !own.isDone && !own.task.isBackward) {
    result = demand(end);
    if (succeeded(result))
      result = addResults();
  }
  part = nullptr;
  return result;
}

LogicalResult Execution::runStages(bool trains) {
  StageRunner runner(*table, executor, trains);
  return runner.run(
      [&](StageTask task, int64_t place,
          const StageMessage &received) -> FailureOr<StageRunner::Outcome> {
        StagePart own(task, *table, received);
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

//===----------------------------------------------------------------------===//
// Gradients of weights that several stages hold
//===----------------------------------------------------------------------===//

/// Sums the gradients of a weight that devices at several positions on the
/// stages' axis hold: a table that is also the head, or all weights in a
/// schedule that begins at both ends.
LogicalResult Execution::exchangeGradients() {
  for (auto &[key, gradient] : trained.gradients) {
    const std::set<int64_t> &holders = trained.weights[key].devices;
    DeviceTensors own = gradient.sums;
    for (int64_t device : holders) {
      LocalTensor &sum = gradient.sums[device] = LocalTensor();
      int64_t copies = 0;
      for (int64_t other : grid->groupOf(device, table->axis())) {
        const LocalTensor &addend = own[other];
        copies += static_cast<int64_t>(holders.count(other));
        if (addend.shape.empty())
          continue;
        if (sum.shape.empty())
          sum = LocalTensor(addend.shape);
        if (sum.shape != addend.shape)
          return emitError(gradient.addend.getLoc(),
                           "is of another shape on another stage");
        for (int64_t i = 0; i < sum.size(); ++i)
          sum.data[i] += addend.data[i];
      }
      if (copies > 1)
        summedBytes[device] += bytesOf(gradient.addend, sum);
    }
  }
  return success();
}

/// Adds to `ops` the ops in its block from which `op` is computed, weights
/// included.
static void addWeights(Operation *op, llvm::SetVector<Operation *> &ops) {
  if (!ops.insert(op))
    return;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      addWeights(source, ops);
}

/// Lets all devices with copies of the weight execute `op`, which is part of an
/// update; returns false if there is no such weight. The copies are then
/// compared like other replicas.
FailureOr<bool> Execution::enterHolders(Operation *op) {
  llvm::SetVector<Operation *> sources;
  addWeights(op, sources);
  const std::set<int64_t> *holders = nullptr;
  for (Operation *source : sources) {
    auto weight = dyn_cast<transformer::WeightOp>(source);
    if (!weight)
      continue;
    const std::set<int64_t> &own =
        trained.weights[keyOf(weight, layer)].devices;
    if (holders && own != *holders)
      return op->emitError("cannot be executed: it combines weights of several "
                           "stages");
    holders = &own;
  }
  if (!holders)
    return op->emitError("cannot be executed over stages: no weight says which "
                         "devices do it");
  grid->enter(std::vector<int64_t>(holders->begin(), holders->end()));
  return !holders->empty();
}
