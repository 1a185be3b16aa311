//===- Stages.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Stages.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Schedule/Timeline.h"

#include "mlir/IR/SymbolTable.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

/// Emits an error if the stages' axis splits tensors: the devices of a stage
/// must differ only in other axes.
static LogicalResult verifyAxis(parallel::StagesOp op, StringRef axis,
                                const CostProgram &program) {
  if (!llvm::is_contained(program.axes, axis.str()))
    return success();
  return op.emitError("cannot be executed: its axis '")
         << axis << "' splits tensors, or collectives are over it";
}

//===----------------------------------------------------------------------===//
// Finding the layers of a backward
//===----------------------------------------------------------------------===//

namespace {

/// A layer that a loop runs: its function, its name prefix and its number.
struct StackLayer {
  Operation *function = nullptr;
  StringRef prefix;
  int64_t number = 0;

  bool operator==(const StackLayer &other) const {
    return function == other.function && prefix == other.prefix &&
           number == other.number;
  }
};

} // namespace

using StackLayers = SmallVector<StackLayer>;

/// Adds the functions of the layers of `repeat` in execution order, at most
/// `most` + 1.
static void addFunctions(transformer::RepeatOp repeat, size_t most,
                         StackLayers &layers) {
  for (uint64_t i = 0; i < repeat.getCount() && layers.size() <= most; ++i) {
    size_t before = layers.size();
    for (Operation &op : repeat.getBody().front())
      if (auto inner = dyn_cast<transformer::RepeatOp>(op)) {
        addFunctions(inner, most, layers);
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
            call, call.getCalleeAttr());
        StackLayer &layer = layers.emplace_back();
        if (callee)
          layer.function = findWhole(callee);
      }
    // An iteration that added no layer ends the loop: no other one would.
    if (layers.size() == before)
      return;
  }
}

/// Returns the layers of `repeat`; at most `most` + 1, which means that there
/// are more than `most`.
static StackLayers layersOf(transformer::RepeatOp repeat, size_t most) {
  StackLayers layers;
  addFunctions(repeat, most, layers);
  bool isReversed = repeat.getReversed();
  auto first = static_cast<int64_t>(repeat.getFirst());
  for (auto [i, layer] : llvm::enumerate(layers)) {
    layer.prefix = repeat.getPrefix().value_or("");
    layer.number =
        first + static_cast<int64_t>(isReversed ? layers.size() - 1 - i : i);
  }
  return layers;
}

/// Adds the loops in which `function` runs its layers to `stack`.
static LogicalResult addStack(FunctionOpInterface function,
                              SmallVectorImpl<Operation *> &stack) {
  for (LoopLikeOpInterface loop : findStack(function)) {
    if (!isa<transformer::RepeatOp>(loop))
      return loop->emitError("cannot be executed over stages: only layers of a "
                             "transformer.repeat can");
    stack.push_back(loop);
  }
  return success();
}

/// Emits an error if there is an op between the loops that a stage would have
/// to execute.
static LogicalResult verifyFollow(ArrayRef<Operation *> stack) {
  for (Operation *op = stack.front(); op != stack.back();
       op = op->getNextNode())
    if (!llvm::is_contained(stack, op) &&
        !(op->getNumResults() == 1 && isGiven(op->getResult(0))))
      return op->emitError("cannot be executed over stages: it lies between "
                           "layers, and is of no stage");
  return success();
}

/// Emits an error unless the backward runs the layers of the forward in
/// reverse.
LogicalResult StageTable::readBackward(ModuleOp module) {
  StackLayers layers;
  for (Operation *loop : forward.stack)
    llvm::append_range(
        layers, layersOf(cast<transformer::RepeatOp>(loop), this->layers()));
  for (auto sections : module.getOps<StepSectionsOpInterface>())
    for (auto [function, section] : sections.getSections()) {
      if (section != Section::backward)
        continue;
      if (backward.function)
        return function.emitError("is a second backward: over stages only one "
                                  "can be executed");
      backward.function = cast<func::FuncOp>(*function);
      if (failed(addStack(function, backward.stack)))
        return failure();
      StackLayers own;
      for (Operation *loop : backward.stack)
        llvm::append_range(
            own, layersOf(cast<transformer::RepeatOp>(loop), layers.size()));
      if (!llvm::equal(own, llvm::reverse(layers)))
        return function.emitError("cannot be executed over stages: it does not "
                                  "run the backwards of ")
               << layers.size() << " layers from the last one on";
      if (failed(verifyFollow(backward.stack)))
        return failure();
    }
  return success();
}

FailureOr<std::unique_ptr<StageTable>> StageTable::create(ModuleOp module,
                                                          func::FuncOp entry) {
  auto ops = module.getOps<parallel::StagesOp>();
  if (ops.empty())
    return std::unique_ptr<StageTable>();
  auto table = std::make_unique<StageTable>(entry);
  table->op = *ops.begin();
  table->ranges = table->op.getRanges();
  CostProgramAnalysis analysis(module);
  if (!analysis.isValid() ||
      failed(verifyCoverage(table->ranges, analysis.getProgram(),
                            [&] { return table->op.emitError(); })) ||
      failed(verifyAxis(table->op, table->axis(), analysis.getProgram())))
    return failure();
  if (failed(
          addStack(cast<FunctionOpInterface>(*entry), table->forward.stack)) ||
      failed(table->readBackward(module)) || failed(table->readOrders()))
    return failure();
  return table;
}

//===----------------------------------------------------------------------===//
// Orders of tasks
//===----------------------------------------------------------------------===//

/// Reads the order of tasks from the schedule. Gradients of weights have no
/// tasks of their own: the backward computes them.
LogicalResult StageTable::readOrders() {
  PipelineSchedule schedule;
  schedule.kind = op.getSchedule();
  schedule.interleave = static_cast<int64_t>(op.getInterleave());
  schedule.stages = static_cast<int64_t>(ranges.size()) / schedule.interleave;
  schedule.microbatches = microbatches();
  schedule.work.resize(ranges.size());
  Result<PipelineTimeline> timeline = simulateSchedule(schedule);
  if (!timeline) {
    InFlightDiagnostic error = op.emitError(timeline.error().message);
    error.attachNote() << timeline.error().note;
    return error;
  }
  for (const DeviceTimeline &device : timeline->devices) {
    std::vector<StageTask> &own = tasks.emplace_back();
    for (size_t i = device.firstTask; i < device.endTask; ++i) {
      const ScheduledTask &task = timeline->tasks[i];
      if (task.kind != TaskKind::weight_gradient)
        own.push_back(
            {task.stage, task.microbatch, task.kind != TaskKind::forward});
    }
  }
  return success();
}

StageOrders StageTable::orders(bool trains) const {
  StageOrders some = tasks;
  for (std::vector<StageTask> &own : some)
    llvm::erase_if(own,
                   [&](StageTask task) { return task.isBackward && !trains; });
  return some;
}
