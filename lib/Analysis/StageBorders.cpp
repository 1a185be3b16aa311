//===- StageBorders.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Analysis/StageBorders.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Program/Stages.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

using Loops = SmallVector<LoopLikeOpInterface>;

static Loops lastLoops(FunctionOpInterface function) {
  Loops loops;
  for (Operation &op : llvm::reverse(function.getFunctionBody().front())) {
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      loops.push_back(loop);
    else if (!loops.empty())
      break;
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

/// Returns the functions that `loop` calls; for a function of a backward or an
/// update, its forward.
static llvm::DenseSet<Operation *> calleesOf(LoopLikeOpInterface loop,
                                             SymbolTableCollection &symbols) {
  llvm::DenseSet<Operation *> callees;
  loop->walk([&](CallOpInterface call) {
    if (auto callee = dyn_cast_or_null<FunctionOpInterface>(
            call.resolveCallableInTable(&symbols)))
      callees.insert(findWhole(callee));
  });
  return callees;
}

/// Returns the loops of `part` that call backwards or updates of the functions
/// that the loops `stack` call.
static Loops loopsOfParts(FunctionOpInterface part, const Loops &stack) {
  SymbolTableCollection symbols;
  llvm::DenseSet<Operation *> layers;
  for (LoopLikeOpInterface loop : stack)
    for (Operation *callee : calleesOf(loop, symbols))
      layers.insert(callee);
  Loops loops;
  for (auto loop : part.getFunctionBody().getOps<LoopLikeOpInterface>())
    if (llvm::any_of(calleesOf(loop, symbols), [&](Operation *callee) {
          return layers.contains(callee);
        }))
      loops.push_back(loop);
  return loops;
}

Loops autopar::analysis::findStack(FunctionOpInterface function) {
  if (FunctionOpInterface whole = findWhole(function); whole != function)
    if (Loops loops = loopsOfParts(function, lastLoops(whole)); !loops.empty())
      return loops;
  return lastLoops(function);
}

bool autopar::analysis::isGiven(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<HeldOpInterface>(op) || op->getNumOperands() == 0)
      return true;
    if (!isa<parallel::ParallelDialect>(op->getDialect()) ||
        op->getNumOperands() != 1)
      return false;
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  return isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// Returns the loop whose iteration `op` ends; null if `op` ends none.
static LoopLikeOpInterface loopEndedBy(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>()
             ? dyn_cast<LoopLikeOpInterface>(op->getParentOp())
             : LoopLikeOpInterface();
}

//===----------------------------------------------------------------------===//
// Whether an op or a loop reads a value
//===----------------------------------------------------------------------===//

SmallVector<Value, 2> ReadValues::receiversOf(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(
        call.resolveCallableInTable(&symbols));
    if (callee && index < callee.getFunctionBody().getNumArguments())
      return {callee.getArgument(index)};
  } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use))
      return {argument};
  } else if (auto loop = loopEndedBy(op)) {
    return {loop.getRegionIterArgs()[index], loop->getResult(index)};
  }
  return {};
}

ReadValues::ReadValues(Operation *module) {
  DenseMap<Value, SmallVector<Value, 2>> givers;
  SmallVector<Value> found;
  module->walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands()) {
      SmallVector<Value, 2> receivers = receiversOf(use);
      for (Value receiver : receivers)
        givers[receiver].push_back(use.get());
      if (receivers.empty())
        found.push_back(use.get());
    }
  });
  while (!found.empty()) {
    Value value = found.pop_back_val();
    if (!values.insert(value).second)
      continue;
    if (auto from = givers.find(value); from != givers.end())
      found.append(from->second);
  }
}

bool ReadValues::reads(OpOperand &use) {
  SmallVector<Value, 2> receivers = receiversOf(use);
  return receivers.empty() ||
         llvm::any_of(receivers, [&](Value value) { return isRead(value); });
}

//===----------------------------------------------------------------------===//
// Values that are read after a call, so that a stage sends them
//===----------------------------------------------------------------------===//

/// Whether a stage that reads `use` must receive its value from another stage.
bool StageBorders::isSent(OpOperand &use) {
  return tensorOf(use.get().getType()) && read.reads(use) &&
         !isGiven(use.get());
}

const StageBorders::Values &StageBorders::readInside(Operation *op) {
  auto [known, isNew] = inside.try_emplace(op);
  if (!isNew || op->getNumRegions() == 0)
    return known->second;
  llvm::SetVector<Value> sent;
  visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *use) {
    if (isSent(*use))
      sent.insert(use->get());
  });
  return known->second = sent.takeVector();
}

/// Scans a block from its end, without the terminator. Stores for each call and
/// loop the earlier values that the ops after it read, in the order of reading.
void StageBorders::sweep(Block &block) {
  DenseMap<Value, int64_t> places;
  int64_t place = 0;
  auto keep = [&](Operation *op) {
    SmallVector<std::pair<int64_t, Value>> ordered;
    for (auto [value, first] : places)
      ordered.emplace_back(first, value);
    llvm::sort(ordered, llvm::less_first());
    behind[op] = Values(llvm::make_second_range(ordered));
  };
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    for (Value result : op.getResults())
      places.erase(result);
    if (isa<CallOpInterface, LoopLikeOpInterface>(op))
      keep(&op);
    for (Value value : llvm::reverse(readInside(&op)))
      places[value] = --place;
    for (OpOperand &use : llvm::reverse(op.getOpOperands()))
      if (isSent(use))
        places[use.get()] = --place;
  }
}

const StageBorders::Values &StageBorders::readBehind(Operation *op) {
  if (!behind.contains(op))
    sweep(*op->getBlock());
  return behind[op];
}

/// Whether the value at the end of an iteration is read afterwards: by the next
/// iteration or, in the last iteration, after the loop.
bool StageBorders::isHandedOn(OpOperand &use, ArrayRef<Operation *> ending) {
  auto loop = loopEndedBy(use.getOwner());
  if (!loop || !llvm::is_contained(ending, loop.getOperation()))
    return isSent(use);
  return isSent(use) && read.isRead(loop->getResult(use.getOperandNumber()));
}

/// Whether `value` exists before `at`: it is computed earlier in the block, or
/// in another block.
static bool isBefore(Value value, Operation *at) {
  Operation *op = value.getDefiningOp();
  return !op || op->getBlock() != at->getBlock() || op->isBeforeInBlock(at);
}

SmallVector<Value> StageBorders::findSent(Operation *call,
                                          ArrayRef<Operation *> ending) {
  llvm::SetVector<Value> sent;
  for (OpOperand &use : call->getOpOperands())
    if (isSent(use))
      sent.insert(use.get());
  for (Operation *at = call; !isa<FunctionOpInterface>(at);
       at = at->getParentOp()) {
    auto add = [&](Value value) {
      if (isBefore(value, at))
        sent.insert(value);
    };
    llvm::for_each(readBehind(at), add);
    for (OpOperand &use : at->getBlock()->getTerminator()->getOpOperands())
      if (isHandedOn(use, ending))
        add(use.get());
    // If the loop has further iterations, these read values too.
    if (!llvm::is_contained(ending, at))
      llvm::for_each(readInside(at), add);
    sent.remove_if([&](Value value) { return !isBefore(value, at); });
  }
  return sent.takeVector();
}

SmallVector<Value> StageBorders::findSentBehind(Operation *first) {
  llvm::SetVector<Value> sent;
  auto add = [&](Value value) {
    if (isBefore(value, first))
      sent.insert(value);
  };
  for (Operation *op = first; op; op = op->getNextNode()) {
    for (OpOperand &use : op->getOpOperands())
      if (isSent(use))
        add(use.get());
    llvm::for_each(readInside(op), add);
  }
  return sent.takeVector();
}

/// Emits an error if a stage reads a cache that a layer of another one appends
/// to: engines send hidden states between stages, and no keys and values.
static LogicalResult
verifySharedCaches(ArrayRef<LayerRange> ranges, const CostProgram &program,
                   const std::vector<uint32_t> &order,
                   function_ref<InFlightDiagnostic()> emitError) {
  auto shared = layersOfSharedCaches(program, order);
  if (!shared)
    return success();
  auto first = static_cast<int64_t>(shared->first);
  auto last = static_cast<int64_t>(shared->second);
  for (const LayerRange &range : ranges) {
    if (range.begin <= first || range.begin > last || range.isEmpty())
      continue;
    InFlightDiagnostic diag = emitError()
                              << "a stage begins with layer " << range.begin
                              << ", but the layers " << first << " to " << last
                              << " have key-value caches in common, which are "
                                 "on one stage";
    diag.attachNote()
        << "give ranges that keep them together, as in --stages=0-"
        << std::max<int64_t>(first - 1, 0) << "," << std::max<int64_t>(first, 1)
        << "-" << order.size() - 1 << ", or leave --stages out";
    return diag;
  }
  return success();
}

LogicalResult autopar::analysis::verifyCoverage(
    ArrayRef<LayerRange> ranges, const CostProgram &program,
    function_ref<InFlightDiagnostic()> emitError) {
  Result<std::vector<uint32_t>> layers = layersInOrder(program);
  if (!layers) {
    InFlightDiagnostic diag = emitError() << layers.error().message;
    diag.attachNote() << layers.error().note;
    return diag;
  }
  auto count = static_cast<int64_t>(layers->size());
  if (ranges.back().end == count)
    return verifySharedCaches(ranges, program, *layers, emitError);
  return emitError() << "stages have the layers 0 to " << ranges.back().end - 1
                     << ", but the model has " << count
                     << ": the last stage ends with " << count - 1;
}
