//===- StageBorders.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Analysis/StageBorders.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Program/Stages.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace autopar;
using namespace mlir;

SmallVector<LoopLikeOpInterface> autopar::findStack(FunctionOpInterface entry) {
  SmallVector<LoopLikeOpInterface> loops;
  for (Operation &op : llvm::reverse(entry.getFunctionBody().front())) {
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      loops.push_back(loop);
    else if (!loops.empty())
      break;
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

bool autopar::isGiven(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<HeldOpInterface>(op))
      return true;
    if (!isa<parallel::ParallelDialect>(op->getDialect()) ||
        op->getNumOperands() != 1)
      return false;
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  return isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

namespace {

/// Whether anything reads what a use takes, on its way through calls and loops.
/// Of a function, what it returns counts as read.
class Reading {
public:
  bool reads(OpOperand &use) {
    Operation *op = use.getOwner();
    unsigned index = use.getOperandNumber();
    if (auto call = dyn_cast<CallOpInterface>(op))
      return isRead(calleeOf(call).getArgument(index));
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return isRead(loop.getTiedLoopRegionIterArg(&use));
    if (auto loop = loopEndedBy(op))
      return isRead(loop.getRegionIterArgs()[index]) ||
             isRead(loop->getResult(index));
    return true;
  }
  bool isRead(Value value) {
    // What is looked at already is decided there.
    return seen.insert(value).second &&
           llvm::any_of(value.getUses(),
                        [&](OpOperand &use) { return reads(use); });
  }

  static LoopLikeOpInterface loopEndedBy(Operation *op) {
    return op->hasTrait<OpTrait::IsTerminator>()
               ? dyn_cast<LoopLikeOpInterface>(op->getParentOp())
               : LoopLikeOpInterface();
  }

private:
  static FunctionOpInterface calleeOf(CallOpInterface call) {
    return cast<FunctionOpInterface>(call.resolveCallable());
  }

  llvm::SmallPtrSet<Value, 16> seen;
};

/// Collects what is read from a call on.
class SentValues {
public:
  explicit SentValues(ArrayRef<Operation *> ending) : ending(ending) {}

  SmallVector<Value> find(Operation *call) {
    addUses(call);
    for (Operation *at = call; !isa<FunctionOpInterface>(at);
         at = at->getParentOp())
      addReads(at);
    SmallVector<Value> sent;
    for (Value value : read)
      if (tensorOf(value.getType()) && !isGiven(value))
        sent.push_back(value);
    return sent;
  }

private:
  /// Adds what runs after `at` in its block reads, and what further iterations
  /// of `at` do, if it is a loop around the call; of values of the block only
  /// those before `at`.
  void addReads(Operation *at) {
    for (Operation *op = at->getNextNode(); op; op = op->getNextNode())
      addUses(op);
    if (!llvm::is_contained(ending, at))
      addUsesInside(at);
    read.remove_if([&](Value value) {
      Operation *op = value.getDefiningOp();
      return op && op->getBlock() == at->getBlock() && !op->isBeforeInBlock(at);
    });
  }
  void addUses(Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      addUse(use);
    addUsesInside(op);
  }
  void addUsesInside(Operation *op) {
    visitUsedValuesDefinedAbove(op->getRegions(),
                                [&](OpOperand *use) { addUse(*use); });
  }
  void addUse(OpOperand &use) {
    auto loop = Reading::loopEndedBy(use.getOwner());
    bool reads = loop && llvm::is_contained(ending, loop.getOperation())
                     ? Reading().isRead(loop->getResult(use.getOperandNumber()))
                     : Reading().reads(use);
    if (reads)
      read.insert(use.get());
  }

  ArrayRef<Operation *> ending;
  llvm::SetVector<Value> read;
};

} // namespace

SmallVector<Value> autopar::findSentValues(Operation *call,
                                           ArrayRef<Operation *> ending) {
  return SentValues(ending).find(call);
}

LogicalResult
autopar::verifyCoverage(ArrayRef<LayerRange> ranges, const CostProgram &program,
                        function_ref<InFlightDiagnostic()> emitError) {
  Result<std::vector<uint32_t>> layers = layersInOrder(program);
  if (!layers) {
    InFlightDiagnostic diag = emitError() << layers.error().message;
    diag.attachNote() << layers.error().note;
    return diag;
  }
  auto count = static_cast<int64_t>(layers->size());
  if (ranges.back().end == count)
    return success();
  return emitError() << "stages have the layers 0 to " << ranges.back().end - 1
                     << ", but the model has " << count
                     << ": the last stage ends with " << count - 1;
}
