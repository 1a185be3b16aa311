//===- StackReader.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StackReader.h"

#include "autopar/Support/Limits.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace autopar;
using namespace mlir;

using Layer = LayerStack::Layer;

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

LogicalResult StackReader::read(FunctionOpInterface entry,
                                ArrayRef<LoopLikeOpInterface> loops,
                                uint32_t after) {
  Block &body = entry.getFunctionBody().front();
  stack.before = {{layers.lookup(entry), 1}};
  stack.after = {{after, 1}};
  for (Value argument : body.getArguments())
    addInput(argument, stack.inputs);
  Kinds *outside = &stack.before;
  for (Operation &op : body) {
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    bool isStack = loop && llvm::is_contained(loops, loop);
    if (isStack)
      outside = &stack.after;
    if (failed(isStack ? addRun(loop) : addOutside(&op, *outside)))
      return failure();
  }
  if (irregular)
    stack = LayerStack();
  return success();
}

/// Adds what the calls in `op` run.
LogicalResult StackReader::addOutside(Operation *op, Kinds &kinds) {
  WalkResult result = op->walk([&](CallOpInterface call) {
    std::optional<int64_t> trips = tripCountAround(call);
    irregular |= !trips;
    return WalkResult(addCall(call, trips.value_or(1), kinds));
  });
  return failure(result.wasInterrupted());
}

/// Adds what `times` runs of `call` run.
LogicalResult StackReader::addCall(CallOpInterface call, int64_t times,
                                   Kinds &kinds) {
  CallCounts counts;
  FunctionOpInterface callee = counts.callee(call);
  if (failed(counts.count(callee)))
    return failure();
  for (auto [function, layer] : layers) {
    int64_t runs;
    if (llvm::MulOverflow(counts[function], times, runs))
      irregular = true;
    else if (runs > 0)
      kinds.push_back({layer, runs});
  }
  llvm::sort(kinds, [](const KindCount &a, const KindCount &b) {
    return a.layer < b.layer;
  });
  return success();
}

LogicalResult StackReader::addRun(LoopLikeOpInterface loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  LayerStack::Run &run = stack.runs.emplace_back();
  irregular |= !count;
  run.count = count ? count->getSExtValue() : 1;
  return addLayers(loop, 1, run);
}

/// Adds the layers of an iteration of `loop`, which an iteration of the run has
/// so many times.
LogicalResult StackReader::addLayers(LoopLikeOpInterface loop, int64_t times,
                                     LayerStack::Run &run) {
  for (Operation &op : loop.getLoopRegions().front()->front()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      run.layers.emplace_back(stack.layers.size(), times);
      Layer &layer = stack.layers.emplace_back();
      if (failed(addCall(call, 1, layer.kinds)))
        return failure();
      layer.inputs = inputsOf(call);
      layer.ends = launches.lookup(CallCounts().callee(call)).ends;
      continue;
    }
    // Ranges within a loop within a loop must be those of one layer.
    auto inner = dyn_cast<LoopLikeOpInterface>(op);
    std::optional<APInt> count =
        inner ? inner.getStaticTripCount() : std::nullopt;
    Block *body = inner ? &inner.getLoopRegions().front()->front() : nullptr;
    if (times != 1 || !count || !llvm::hasNItems(*body, 2))
      irregular = true;
    else if (failed(addLayers(inner, count->getSExtValue(), run)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What a layer takes from before it
//===----------------------------------------------------------------------===//

/// Whether a stage must be given `value`: it is neither a weight or cache, laid
/// out as it may be, nor an input of the model.
bool StackReader::crosses(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (builder.isResident(value))
      return false;
    if (op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return !argument ||
         !isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

void StackReader::addInput(Value value, std::vector<Layer::Input> &inputs) {
  for (Activation &held : builder.activations(value))
    inputs.push_back({std::move(held.shape), held.type});
}

/// The values that `call`, or what runs after it, uses and that are computed
/// before it.
std::vector<Layer::Input> StackReader::inputsOf(Operation *call) {
  llvm::SetVector<Value> used;
  for (Operation *at = call; !isa<FunctionOpInterface>(at);
       at = at->getParentOp()) {
    for (Operation *op = at == call ? at : at->getNextNode(); op;
         op = op->getNextNode()) {
      used.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), used);
    }
    // What the next iterations use, too.
    getUsedValuesDefinedAbove(at->getRegions(), used);
    // Values of this block that are computed later are not handed over.
    used.remove_if([&](Value value) {
      Operation *op = value.getDefiningOp();
      return op && op->getBlock() == at->getBlock() && !op->isBeforeInBlock(at);
    });
  }
  std::vector<Layer::Input> inputs;
  for (Value value : used)
    if (tensorOf(value.getType()) && crosses(value))
      addInput(value, inputs);
  return inputs;
}
