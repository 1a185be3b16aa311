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
  for (const StackLayer &kind : stack->kinds) {
    functions.push_back(buildLayer(kind, x.getType()));
    if (model.error)
      return {};
  }
  StringAttr prefix =
      model.builder().getStringAttr(model.renamed(stack->prefix));
  for (const LayerPattern &pattern : findPatterns(stack->layers))
    x = repeat(pattern.count, prefix, stack->first + pattern.first, x,
               [&](Value carried) { return runsOf(pattern, carried); });
  return x;
}

func::FuncOp StackBuilder::buildLayer(const StackLayer &kind, Type stream) {
  SmallVector<Type> inputs = {stream};
  for (Value value : shared)
    inputs.push_back(value.getType());
  func::FuncOp function = model.beginFunction(kind.name, inputs);
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
  if (!model.error)
    model.endFunction(function, x);
  return function;
}

Value StackBuilder::call(uint32_t kind, Value x) {
  SmallVector<Value> inputs = {x};
  inputs.append(shared.begin(), shared.end());
  return func::CallOp::create(model.builder(), functions[kind], inputs)
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
