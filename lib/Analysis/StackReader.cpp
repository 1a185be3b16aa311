//===- StackReader.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StackReader.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace mlir;

using Layer = LayerStack::Layer;

LogicalResult StackReader::read(ArrayRef<LoopLikeOpInterface> loops,
                                uint32_t after) {
  Block &body = entry.getFunctionBody().front();
  stack.before = {{layers.lookup(entry), 1}};
  stack.after = {{after, 1}};
  for (Value argument : body.getArguments())
    addInput(argument, stack.inputs);
  for (Value value : borders.findSentBehind(loops.back()->getNextNode()))
    addInput(value, stack.outputs);
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

/// Adds the layer kinds that calls in `op` run to `kinds`.
LogicalResult StackReader::addOutside(Operation *op, Kinds &kinds) {
  WalkResult result = op->walk([&](CallOpInterface call) {
    std::optional<int64_t> trips = tripCountAround(call);
    irregular |= !trips;
    return WalkResult(addCall(call, trips.value_or(1), kinds));
  });
  return failure(result.wasInterrupted());
}

const StackReader::Kinds *StackReader::kindsIn(FunctionOpInterface callee) {
  auto [known, isNew] = kindsOf.try_emplace(callee);
  if (!isNew)
    return &known->second;
  CallCounts counts;
  if (failed(counts.count(callee)))
    return nullptr;
  for (auto [function, layer] : layers)
    if (int64_t runs = counts[function])
      known->second.push_back({layer, runs});
  return &known->second;
}

/// Adds the layer kinds that `times` runs of `call` run to `kinds`.
LogicalResult StackReader::addCall(CallOpInterface call, int64_t times,
                                   Kinds &kinds) {
  const Kinds *own = kindsIn(calleeOf(call));
  if (!own)
    return failure();
  for (KindCount kind : *own) {
    irregular |= llvm::MulOverflow(kind.count, times, kind.count);
    kinds.push_back(kind);
  }
  llvm::sort(kinds, [](const KindCount &a, const KindCount &b) {
    return a.layer < b.layer;
  });
  return success();
}

/// A stage that begins in the last iteration may receive less than one that
/// begins in an earlier iteration: nothing that only further iterations read.
LogicalResult StackReader::addRun(LoopLikeOpInterface loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  irregular |= !trips;
  int64_t count = trips ? trips->getSExtValue() : 1;
  Iteration last = iterationOf(loop, {loop});
  Iteration others = iterationOf(loop, {});
  if (count == 1 || areSame(last, others))
    return addIterations(last, count);
  return failure(failed(addIterations(others, count - 1)) ||
                 failed(addIterations(last, 1)));
}

bool StackReader::areSame(const Iteration &a, const Iteration &b) {
  return llvm::equal(a, b, [](const LayerCall &x, const LayerCall &y) {
    return x.call == y.call && x.times == y.times && x.sent == y.sent;
  });
}

/// Returns the layers of one iteration of `loop`, in the last iteration of the
/// loops `ending`.
StackReader::Iteration
StackReader::iterationOf(LoopLikeOpInterface loop,
                         SmallVector<Operation *> ending) {
  Iteration layers;
  for (Operation &op : loop.getLoopRegions().front()->front()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto call = dyn_cast<CallOpInterface>(op))
      layers.push_back({call, 1, borders.findSent(call, ending)});
    else if (auto inner = dyn_cast<LoopLikeOpInterface>(op))
      addRepeated(inner, ending, layers);
    else
      irregular = true;
  }
  return layers;
}

/// Adds the layers of a loop inside a loop of layers; they must all call one
/// function.
void StackReader::addRepeated(LoopLikeOpInterface loop,
                              ArrayRef<Operation *> ending, Iteration &layers) {
  std::optional<APInt> count = loop.getStaticTripCount();
  Block &body = loop.getLoopRegions().front()->front();
  auto call = dyn_cast<CallOpInterface>(body.front());
  if (!count || !call || !llvm::hasNItems(body, 2)) {
    irregular = true;
    return;
  }
  SmallVector<Operation *> ends(ending);
  LayerCall others{call, count->getSExtValue() - 1,
                   borders.findSent(call, ends)};
  ends.push_back(loop);
  LayerCall last{call, 1, borders.findSent(call, ends)};
  if (others.sent == last.sent)
    last.times += others.times;
  else if (others.times > 0)
    layers.push_back(std::move(others));
  layers.push_back(std::move(last));
}

LogicalResult StackReader::addIterations(const Iteration &layers,
                                         int64_t count) {
  LayerStack::Run &run = stack.runs.emplace_back();
  run.count = count;
  for (const LayerCall &own : layers) {
    run.layers.emplace_back(stack.layers.size(), own.times);
    Layer &layer = stack.layers.emplace_back();
    if (failed(addCall(own.call, 1, layer.kinds)))
      return failure();
    for (Value value : own.sent)
      addInput(value, layer.inputs);
    layer.ends = launches.lookup(calleeOf(own.call)).ends;
  }
  return success();
}

void StackReader::addInput(Value value, std::vector<Layer::Input> &inputs) {
  for (Activation &held : builder.activations(value))
    inputs.push_back({std::move(held.shape), held.type});
}
