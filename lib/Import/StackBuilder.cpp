//===- StackBuilder.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StackBuilder.h"

#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

Value StackBuilder::build(Value x) {
  Result<Stack> stack = readStack(scope, name);
  if (!stack) {
    model.error = stack.error();
    return {};
  }
  findShared();
  stack->prefix = model.renamed(stack->prefix);
  std::vector<uint32_t> kinds, layers;
  for (const StackLayer &kind : stack->kinds)
    kinds.push_back(kindOf(kind));
  for (auto [i, kind] : llvm::enumerate(stack->layers)) {
    std::string prefix =
        stack->prefix + "." + std::to_string(stack->first + i) + ".";
    layers.push_back(variantOf(stack->kinds[kind], kinds[kind], x, prefix));
    if (model.error)
      return {};
  }
  StringAttr prefix = model.builder().getStringAttr(stack->prefix);
  for (const LayerPattern &pattern : findPatterns(layers))
    x = repeat(pattern.count, prefix, stack->first + pattern.first, x,
               [&](Value carried) { return runsOf(pattern, carried); });
  return x;
}

Value StackBuilder::buildLayer(Value x) {
  Result<StackLayer> layer = readLayer(scope, name);
  if (!layer) {
    model.error = layer.error();
    return {};
  }
  findShared();
  uint32_t kind = kindOf(*layer);
  uint32_t variant = variantOf(*layer, kind, x, model.layerPrefix());
  if (model.error)
    return {};
  func::CallOp result = call(variant, x);
  model.addLayer(result, functions.kinds[kind].weights);
  return result.getResult(0);
}

void StackBuilder::findShared() {
  if (auto uses = description.find("uses"); uses != description.end())
    for (const JsonValue &use : *uses)
      if (Value value = runner.saved.lookup(
              use.is_string() ? use.get<std::string>() : ""))
        shared.push_back(value);
}

uint32_t StackBuilder::kindOf(const StackLayer &layer) {
  for (auto [index, kind] : llvm::enumerate(functions.kinds))
    if (kind.variables == layer.variables)
      return index;
  functions.kinds.push_back({layer.variables, {}});
  return functions.kinds.size() - 1;
}

/// Returns the index of the function for a layer below `prefix`, and builds the
/// function if it is new.
uint32_t StackBuilder::variantOf(const StackLayer &layer, uint32_t kind,
                                 Value x, const std::string &prefix) {
  SmallVector<Value> inputs = inputsOf(x);
  SmallVector<const Format *> formats;
  bool isKnown = false;
  for (auto [index, variant] : llvm::enumerate(functions.variants)) {
    if (variant.kind != kind ||
        TypeRange(variant.function.getArgumentTypes()) !=
            TypeRange(ValueRange(inputs)))
      continue;
    if (!isKnown && model.quantization.dependsOnLayer())
      formats = formatsOf(kind, prefix);
    isKnown = true;
    if (!model.quantization.dependsOnLayer() || variant.formats == formats)
      return index;
  }
  func::FuncOp function =
      buildFunction(layer, kind, ValueRange(inputs), prefix);
  if (model.error)
    return 0;
  functions.variants.push_back({kind, function, formatsOf(kind, prefix)});
  return functions.variants.size() - 1;
}

SmallVector<const Format *> StackBuilder::formatsOf(uint32_t kind,
                                                    const std::string &prefix) {
  SmallVector<const Format *> formats;
  for (QuantizableWeight weight : functions.kinds[kind].weights)
    formats.push_back(model.formatOf(prefix, weight.op.getName(), weight.role));
  return formats;
}

func::FuncOp StackBuilder::buildFunction(const StackLayer &layer, uint32_t kind,
                                         TypeRange inputs,
                                         const std::string &prefix) {
  if (model.depth() > limits::maxNestingDepth) {
    model.error = Error{scope.family().file + ": /stacks/" + name,
                        "the stack is a part of its own layers", ""};
    return {};
  }
  func::FuncOp function = model.beginFunction(layer.name, inputs, prefix);
  StepRunner body(model);
  if (auto uses = description.find("uses"); uses != description.end())
    for (auto [use, argument] :
         llvm::zip(*uses, function.getArguments().drop_front()))
      body.saved[use.get<std::string>()] = argument;
  std::map<std::string, JsonValue> outer = scope.enterLayer(layer.variables);
  Value x = body.run(scope, description["steps"], function.getArgument(0));
  scope.enterLayer(std::move(outer));
  if (!model.error && (!x || x.getType() != inputs.front()))
    model.error = Error{scope.family().file + ": /stacks/" + name + "/steps",
                        "a layer must return what it gets", ""};
  if (model.error)
    return function;
  functions.kinds[kind].weights.assign(model.quantizableWeights().begin(),
                                       model.quantizableWeights().end());
  model.endFunction(function, x);
  return function;
}

SmallVector<Value> StackBuilder::inputsOf(Value x) {
  SmallVector<Value> inputs = {x};
  inputs.append(shared.begin(), shared.end());
  return inputs;
}

func::CallOp StackBuilder::call(uint32_t variant, Value x) {
  return func::CallOp::create(
      model.builder(), functions.variants[variant].function, inputsOf(x));
}

/// Builds a repeat op whose body maps the carried value to the next one by
/// `body`.
Value StackBuilder::repeat(int64_t count, StringAttr prefix, int64_t first,
                           Value init, llvm::function_ref<Value(Value)> body) {
  ImplicitLocOpBuilder &builder = model.builder();
  auto op = RepeatOp::create(builder, TypeRange(init.getType()),
                             builder.getI64IntegerAttr(count), prefix,
                             builder.getI64IntegerAttr(first),
                             /*reversed=*/UnitAttr(), ValueRange(init));
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block &block = op.getBody().emplaceBlock();
  Value carried = block.addArgument(init.getType(), builder.getLoc());
  builder.setInsertionPointToStart(&block);
  YieldOp::create(builder, body(carried));
  return op.getResult(0);
}

Value StackBuilder::runsOf(const LayerPattern &pattern, Value x) {
  for (const LayerRun &run : pattern.runs) {
    // A pattern with a single run is already repeated by the pattern's own op.
    bool single = pattern.runs.size() == 1 || run.count == 1;
    auto body = [&](Value input) { return call(run.kind, input).getResult(0); };
    x = single ? body(x) : repeat(run.count, StringAttr(), 0, x, body);
  }
  return x;
}
