//===- StackBuilder.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StackBuilder.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

Value StackBuilder::build(Value x) {
  Result<Stack> stack = readStack(scope, name);
  if (!stack) {
    model.error = stack.error();
    return {};
  }
  if (auto uses = description.find("uses"); uses != description.end())
    for (const JsonValue &use : *uses)
      if (Value value = runner.saved.lookup(
              use.is_string() ? use.get<std::string>() : ""))
        shared.push_back(value);
  stack->prefix = model.renamed(stack->prefix);
  weights.resize(stack->kinds.size());
  std::vector<uint32_t> layers;
  for (size_t i = 0; i < stack->layers.size(); ++i) {
    layers.push_back(variantOf(*stack, i, x.getType()));
    if (model.error)
      return {};
  }
  StringAttr prefix = model.builder().getStringAttr(stack->prefix);
  for (const LayerPattern &pattern : findPatterns(layers))
    x = repeat(pattern.count, prefix, stack->first + pattern.first, x,
               [&](Value carried) { return runsOf(pattern, carried); });
  return x;
}

/// The variant of a layer, built where it is the first of its kind.
uint32_t StackBuilder::variantOf(const Stack &stack, size_t layer,
                                 Type stream) {
  uint32_t kind = stack.layers[layer];
  std::string prefix =
      stack.prefix + "." + std::to_string(stack.first + layer) + ".";
  SmallVector<const Format *> formats;
  bool isKnown = false;
  for (auto [index, variant] : llvm::enumerate(variants)) {
    if (variant.kind != kind)
      continue;
    if (!isKnown && model.quantization.dependsOnLayer())
      formats = formatsOf(kind, prefix);
    isKnown = true;
    if (!model.quantization.dependsOnLayer() || variant.formats == formats)
      return index;
  }
  weights[kind].clear();
  func::FuncOp function =
      buildLayer(stack.kinds[kind], stream, prefix, weights[kind]);
  variants.push_back({kind, function, formatsOf(kind, prefix)});
  return variants.size() - 1;
}

SmallVector<const Format *> StackBuilder::formatsOf(uint32_t kind,
                                                    const std::string &prefix) {
  SmallVector<const Format *> formats;
  for (const WeightName &weight : weights[kind])
    formats.push_back(model.formatOf(prefix, weight.name, weight.role));
  return formats;
}

func::FuncOp StackBuilder::buildLayer(const StackLayer &kind, Type stream,
                                      const std::string &prefix,
                                      std::vector<WeightName> &weights) {
  SmallVector<Type> inputs = {stream};
  for (Value value : shared)
    inputs.push_back(value.getType());
  func::FuncOp function = model.beginFunction(kind.name, inputs, prefix);
  StepRunner layer(model);
  if (auto uses = description.find("uses"); uses != description.end())
    for (auto [use, argument] :
         llvm::zip(*uses, function.getArguments().drop_front()))
      layer.saved[use.get<std::string>()] = argument;
  scope.enterLayer(kind.variables);
  Value x = layer.run(scope, description["steps"], function.getArgument(0));
  scope.leaveLayer();
  if (!model.error && (!x || x.getType() != stream))
    model.error = Error{scope.family().file + ": /stacks/" + name + "/steps",
                        "a layer must return what it gets", ""};
  for (QuantizableWeight weight : model.quantizableWeights())
    weights.push_back({weight.op.getName().str(), weight.role});
  if (!model.error)
    model.endFunction(function, x);
  return function;
}

Value StackBuilder::call(uint32_t variant, Value x) {
  SmallVector<Value> inputs = {x};
  inputs.append(shared.begin(), shared.end());
  return func::CallOp::create(model.builder(), variants[variant].function,
                              inputs)
      .getResult(0);
}

/// A repeat around `body`, which gets the carried value and returns the next.
Value StackBuilder::repeat(int64_t count, StringAttr prefix, int64_t first,
                           Value init, llvm::function_ref<Value(Value)> body) {
  ImplicitLocOpBuilder &builder = model.builder();
  auto op = RepeatOp::create(
      builder, TypeRange(init.getType()), builder.getI64IntegerAttr(count),
      prefix, builder.getI64IntegerAttr(first), ValueRange(init));
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block &block = op.getBody().emplaceBlock();
  Value carried = block.addArgument(init.getType(), builder.getLoc());
  builder.setInsertionPointToStart(&block);
  YieldOp::create(builder, body(carried));
  return op.getResult(0);
}

Value StackBuilder::runsOf(const LayerPattern &pattern, Value x) {
  for (const LayerRun &run : pattern.runs) {
    // The pattern itself repeats a single run.
    bool single = pattern.runs.size() == 1 || run.count == 1;
    auto body = [&](Value input) { return call(run.kind, input); };
    x = single ? body(x) : repeat(run.count, StringAttr(), 0, x, body);
  }
  return x;
}
