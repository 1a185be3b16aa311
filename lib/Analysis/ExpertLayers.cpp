//===- ExpertLayers.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Analysis/ExpertLayers.h"

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Support/Limits.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// The experts that a function itself contains, without those of called
/// functions; none if `op` is null.
struct OwnExperts {
  Operation *op = nullptr;
  int64_t experts = 0, slots = 0, groups = 1;
};

/// Walks through the layers in execution order.
class LayerWalk {
public:
  explicit LayerWalk(ModuleOp module) : module(module) {}

  FailureOr<ExpertLayers> run();

private:
  LogicalResult walk(FunctionOpInterface function);
  LogicalResult walk(Block &block);
  LogicalResult walkRepeat(RepeatOp repeat);
  LogicalResult walkCall(CallOpInterface call);
  LogicalResult add(FunctionOpInterface function, const OwnExperts &own);
  LogicalResult finish();
  const OwnExperts &expertsOf(FunctionOpInterface function);

  ModuleOp module;
  SymbolTableCollection symbols;
  ExpertLayers found;
  std::vector<ExpertLayer> &layers = found.all;
  llvm::DenseMap<Operation *, OwnExperts> known;
  llvm::SmallPtrSet<Operation *, 4> active;
  /// `inLayers`: whether the current calls are layers. `next`: number of the
  /// next layer. `current`: number of the current layer, if inside one.
  bool inLayers = false;
  int64_t next = 0, steps = 0;
  std::optional<int64_t> current;
};

} // namespace

/// Returns the weight of the experts by which `op` multiplies; null for other
/// ops.
static Value expertWeight(ShardingOpInterface op, unsigned &dim) {
  ShardingFactors factors = op.getShardingFactors();
  int32_t experts = factors.expertsOfResult(0);
  for (unsigned i = 0;
       experts != ShardingFactors::none && i < op->getNumOperands(); ++i)
    for (auto [index, factor] : llvm::enumerate(factors.operands[i]))
      if (factor == experts) {
        dim = index;
        return op->getOperand(i);
      }
  return nullptr;
}

const OwnExperts &LayerWalk::expertsOf(FunctionOpInterface function) {
  auto [it, isNew] = known.try_emplace(function);
  OwnExperts &own = it->second;
  if (!isNew)
    return own;
  function.walk([&](ShardingOpInterface op) {
    if (auto router = dyn_cast<RouterOp>(op.getOperation()))
      own.groups = router.getGroups().value_or(1);
    unsigned dim = 0;
    Value weight = own.op ? Value() : expertWeight(op, dim);
    if (!weight)
      return;
    own.op = op;
    TensorView view(weight);
    own.experts = own.slots = view.getType().getDimSize(dim);
    if (view.dim(dim).rule == SplitRule::pad)
      own.slots = std::max(own.slots, view.dim(dim).multiple);
  });
  return own;
}

LogicalResult LayerWalk::add(FunctionOpInterface function,
                             const OwnExperts &own) {
  if (!current) {
    InFlightDiagnostic diag = own.op->emitOpError(
        "has experts outside of the layers of the model: they have no number");
    diag.attachNote() << "call its function in transformer.repeat N layers "
                         "\"prefix\" from 0";
    return diag;
  }
  layers.push_back({*current, function, own.experts, own.slots, own.groups});
  if (layers.size() > static_cast<size_t>(limits::maxConfigLayers))
    return own.op->emitOpError()
           << "is in one of more than " << limits::maxConfigLayers
           << " layers of experts, too many to place";
  return success();
}

LogicalResult LayerWalk::walk(FunctionOpInterface function) {
  if (!active.insert(function).second)
    return function.emitOpError("calls itself");
  if (active.size() > limits::maxCallDepth)
    return function.emitOpError()
           << "is in a chain of more than " << limits::maxCallDepth << " calls";
  const OwnExperts &own = expertsOf(function);
  if (own.op && failed(add(function, own)))
    return failure();
  LogicalResult result = walk(function.getFunctionBody().front());
  active.erase(function);
  return result;
}

LogicalResult LayerWalk::walk(Block &block) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<RepeatOp>(op))
      if (failed(walkRepeat(repeat)))
        return failure();
    if (auto call = dyn_cast<CallOpInterface>(op))
      if (failed(walkCall(call)))
        return failure();
  }
  return success();
}

LogicalResult LayerWalk::walkRepeat(RepeatOp repeat) {
  bool numbers = static_cast<bool>(repeat.getPrefix());
  llvm::SaveAndRestore<bool> inside(inLayers, inLayers || numbers);
  if (numbers)
    next = repeat.getFirst();
  for (uint64_t i = 0; i < repeat.getCount(); ++i) {
    if (++steps > limits::maxLayers)
      return repeat.emitOpError()
             << "runs one of more than " << limits::maxLayers << " layers";
    if (failed(walk(repeat.getBody().front())))
      return failure();
  }
  return success();
}

/// Walks a call: in a repeat of layers it is the next layer, and calls of its
/// function are parts of that layer.
LogicalResult LayerWalk::walkCall(CallOpInterface call) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&symbols));
  if (!callee || callee.isDeclaration())
    return call.emitOpError("calls a function that has no body here");
  if (++steps > limits::maxLayers)
    return call.emitOpError()
           << "is one of more than " << limits::maxLayers << " calls";
  if (!inLayers)
    return walk(callee);
  llvm::SaveAndRestore<std::optional<int64_t>> number(current, next);
  llvm::SaveAndRestore<bool> inside(inLayers, false);
  int64_t following = next + 1;
  found.stackLayers = std::max(found.stackLayers, following);
  LogicalResult result = walk(callee);
  next = following;
  return result;
}

/// Sorts the layers, and emits an error if they differ from the first one.
LogicalResult LayerWalk::finish() {
  llvm::sort(layers, [](const ExpertLayer &a, const ExpertLayer &b) {
    return a.number < b.number;
  });
  for (size_t i = 1; i < layers.size(); ++i) {
    const ExpertLayer &first = layers.front(), &layer = layers[i];
    if (layer.number == layers[i - 1].number)
      return module.emitError() << "two layers with experts have the number "
                                << layer.number << ": they cannot be placed";
    if (layer.experts != first.experts || layer.slots != first.slots)
      return module.emitError()
             << "layer " << layer.number << " has " << layer.slots
             << " slots of " << layer.experts << " experts, layer "
             << first.number << " has " << first.slots << " of "
             << first.experts << ": only equal layers can be placed";
  }
  bool sameGroups = llvm::all_of(layers, [&](const ExpertLayer &layer) {
    return layer.groups == layers.front().groups;
  });
  if (!sameGroups)
    for (ExpertLayer &layer : layers)
      layer.groups = 1;
  return success();
}

FailureOr<ExpertLayers> LayerWalk::run() {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPublic() && !function.isDeclaration()) {
      if (failed(walk(function)) || failed(finish()))
        return failure();
      return std::move(found);
    }
  return module.emitError("the module has no public function to start from");
}

FailureOr<ExpertLayers> autopar::analysis::findExpertLayers(ModuleOp module) {
  return LayerWalk(module).run();
}

LoadShape ExpertLayers::shape() const {
  LoadShape shape;
  for (const ExpertLayer &layer : all) {
    shape.experts = layer.experts;
    shape.layers.push_back(layer.number);
  }
  return shape;
}
