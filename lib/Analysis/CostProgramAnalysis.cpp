//===- CostProgramAnalysis.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Analysis/CostProgramAnalysis.h"

#include "CallCounts.h"
#include "ExpertTables.h"
#include "StackReader.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace mlir;

/// A module inside others is a part of what the outermost that has a name is.
static std::string nameOfModel(ModuleOp module) {
  std::string name = "model";
  for (; module; module = module->getParentOfType<ModuleOp>())
    if (module.getName())
      name = module.getName()->str();
  return name;
}

/// The axes of one device.
static llvm::DenseSet<StringAttr> findNeutralAxes(ModuleOp module) {
  llvm::DenseSet<StringAttr> neutral;
  DeviceMeshOpInterface mesh = findMesh(module);
  if (!mesh)
    return neutral;
  for (Attribute axis : mesh.getAxisNames())
    if (mesh.getAxisSize(cast<StringAttr>(axis).getValue()) == 1)
      neutral.insert(cast<StringAttr>(axis));
  return neutral;
}

namespace {

/// Walks a module as a step runs it, each function at its first call, and lets
/// every op add its records. Keeps the lifetimes of temporaries on a clock
/// that ticks once per op.
class Extractor {
public:
  Extractor(ModuleOp module, CostProgram &program, ProgramOps &ops)
      : module(module), program(program), ops(ops), builder(program) {
    builder.setNeutralAxes(findNeutralAxes(module));
  }

  LogicalResult run() {
    FunctionOpInterface entry;
    for (auto function : module.getOps<FunctionOpInterface>())
      if (function.isPublic() && !function.isDeclaration()) {
        if (entry)
          return function.emitOpError()
                 << "is a second public function beside @" << entry.getName()
                 << ": make all but the step's private";
        entry = function;
      }
    if (!entry)
      return module.emitError(
          "the module has no public function to start from");
    program.model = nameOfModel(module);
    for (char &c : program.model)
      c = llvm::isPrint(c) ? c : '?';
    if (failed(experts.read(module, builder)) || failed(run(entry)))
      return failure();
    program.placement = experts.take();
    return success();
  }

  /// Extracts what one run of `entry` costs.
  LogicalResult run(FunctionOpInterface entry) {
    builder.setTokenAxes(findTokenAxes(module));
    SmallVector<LoopLikeOpInterface> stack = findStack(entry);
    lastOfStack = stack.empty() ? nullptr : stack.back();
    if (failed(counts.count(entry)) || failed(extractFunction(entry)))
      return failure();
    return stack.empty() ? success()
                         : StackReader(builder, extracted, program.stack)
                               .read(entry, stack, afterStack);
  }

private:
  /// Adds the records of a function, whose arguments are bound.
  LogicalResult extractFunction(FunctionOpInterface function) {
    uint32_t caller = layer;
    extracted[function] = program.layers.size();
    begin(function.getName().str(), counts[function]);
    bool callerPlaced = builder.setPlaced(experts.setKind(function, layer));
    // The inputs of the model; arguments of a callee are bound to its caller's.
    if (layer == 0)
      for (Value argument : function.getArguments()) {
        if (failed(verifyArgument(function, argument)))
          return failure();
        define(argument);
      }
    LogicalResult result = extractBlock(function.getFunctionBody().front());
    program.layers[layer].end = clock;
    layer = caller;
    builder.setPlaced(callerPlaced);
    return result;
  }

  /// Begins a layer kind, to which following records belong.
  void begin(std::string name, int64_t count) {
    layer = program.layers.size();
    program.layers.push_back({std::move(name), count, clock + 1, clock});
  }

  /// Arguments belong to a function, whose verifier knows no encodings.
  static LogicalResult verifyArgument(FunctionOpInterface function,
                                      Value argument) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool known = type && toElementType(type.getElementType());
    for (int64_t i = 0; known && i < type.getRank(); ++i)
      known = !type.isDynamicDim(i) || TensorView(type).isSymbolic(i);
    if (known)
      return success();
    return function.emitOpError()
           << "has an argument of type " << argument.getType()
           << ", of which no size is known";
  }

  LogicalResult extractBlock(Block &block) {
    for (Operation &op : block)
      if (failed(extract(&op)))
        return failure();
    return success();
  }

  LogicalResult extract(Operation *op) {
    ++clock;
    for (Value operand : op->getOperands())
      use(operand);
    if (auto call = dyn_cast<CallOpInterface>(op))
      return extractCall(call);
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return extractLoop(loop);
    if (op->hasTrait<OpTrait::IsTerminator>())
      return success();
    auto workload = dyn_cast<WorkloadOpInterface>(op);
    if (!workload)
      return op->emitOpError("has no cost: it does not implement "
                             "WorkloadOpInterface");
    std::optional<int64_t> trips = tripCountAround(op);
    int64_t count;
    if (!trips || llvm::MulOverflow(*trips, program.layers[layer].count, count))
      return op->emitOpError("runs more often than 63 bits count");
    builder.enter(layer, count);
    workload.buildWorkload(builder);
    ops.collectives.resize(program.collectives.size(), op);
    ops.residents.resize(program.residents.size(), op);
    for (Value result : op->getResults())
      if (builder.resolve(result) == result && !builder.isResident(result))
        define(result);
    return failure(builder.refused());
  }

  LogicalResult extractCall(CallOpInterface call) {
    FunctionOpInterface callee = counts.callee(call);
    for (auto [argument, operand] :
         llvm::zip_equal(callee.getArguments(), call.getArgOperands()))
      builder.bind(argument, operand);
    bool isFirst = !extracted.contains(callee);
    if (isFirst && failed(extractFunction(callee)))
      return failure();
    Operation *end = callee.getFunctionBody().front().getTerminator();
    for (auto [result, value] :
         llvm::zip_equal(call->getResults(), end->getOperands()))
      builder.bind(result, value);
    return success();
  }

  LogicalResult extractLoop(LoopLikeOpInterface loop) {
    for (auto [argument, init] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInits()))
      builder.bind(argument, init);
    for (Region *region : loop.getLoopRegions())
      if (failed(extractBlock(region->front())))
        return failure();
    for (auto [result, value] :
         llvm::zip_equal(loop->getResults(), loop.getYieldedValues()))
      builder.bind(result, value);
    if (loop != lastOfStack)
      return success();
    // A pipeline may run on another device what follows its layers.
    program.layers[layer].end = clock;
    begin(program.layers[layer].name, program.layers[layer].count);
    afterStack = layer;
    return success();
  }

  void define(Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    size_t first = program.activations.size();
    for (Activation &activation : builder.activations(value)) {
      activation.begin = activation.end = clock;
      program.activations.push_back(std::move(activation));
    }
    live[value] = {first, program.activations.size()};
  }

  void use(Value value) {
    auto it = live.find(builder.resolve(value));
    if (it == live.end())
      return;
    for (size_t i = it->second.first; i < it->second.second; ++i)
      program.activations[i].end = clock;
  }

  ModuleOp module;
  CostProgram &program;
  ProgramOps &ops;
  WorkloadBuilder builder;
  CallCounts counts;
  ExpertTables experts;
  llvm::DenseMap<Operation *, uint32_t> extracted;
  /// Indices of the activations that hold a value: the first, and the one after
  /// the last.
  llvm::DenseMap<Value, std::pair<size_t, size_t>> live;
  uint32_t layer = 0, clock = 0;
  Operation *lastOfStack = nullptr;
  /// The layer kind of what follows it.
  uint32_t afterStack = 0;
};

} // namespace

/// Index of the layer kind `name`, added where no step runs it.
static uint32_t findLayer(CostProgram &program, const std::string &name) {
  auto it = llvm::find_if(
      program.layers, [&](const LayerKind &kind) { return kind.name == name; });
  if (it == program.layers.end())
    it = program.layers.insert(it, {name, 0});
  return it - program.layers.begin();
}

/// Adds the weights of functions that a step does not run: no device holds
/// them, whole or split.
static LogicalResult addStored(ModuleOp module, CostProgram &program) {
  for (FunctionOpInterface function : findStoredFunctions(module)) {
    CostProgram unused;
    ProgramOps unusedOps;
    if (failed(Extractor(module, unused, unusedOps).run(function)))
      return failure();
    for (Resident &weight : unused.residents) {
      if (weight.kind != Resident::Kind::weight)
        continue;
      weight.stored = true;
      weight.user.reset();
      weight.layer = findLayer(program, unused.layers[weight.layer].name);
      for (Dim &dim : weight.shape)
        dim = {dim.extent, {}, SplitRule::plain, 1};
      program.residents.push_back(std::move(weight));
    }
  }
  return success();
}

CostProgramAnalysis::CostProgramAnalysis(Operation *op) {
  auto module = cast<ModuleOp>(op);
  valid = succeeded(Extractor(module, program, ops).run()) &&
          succeeded(addStored(module, program));
}
