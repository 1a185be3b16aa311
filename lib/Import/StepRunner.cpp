//===- StepRunner.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepRunner.h"

#include "Blocks/Blocks.h"
#include "StackBuilder.h"
#include "autopar/Support/Text.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

Value StepRunner::fail(Scope &scope, std::string message) {
  if (!model.error)
    model.error = Error{scope.family().file, std::move(message), ""};
  return {};
}

Value StepRunner::run(Scope &scope, const JsonValue &steps, Value x) {
  if (!steps.is_array())
    return fail(scope, "steps are a list, found " + shorten(steps.dump()));
  for (const JsonValue &step : steps) {
    x = runStep(scope, step, x);
    if (model.error)
      return {};
  }
  return x;
}

Value StepRunner::runStep(Scope &scope, const JsonValue &step, Value x) {
  if (step.is_string())
    return runNamed(scope, step.get<std::string>(), x);
  if (step.is_object())
    return runCombined(scope, step, x);
  return fail(scope,
              "a step is a name or an object, found " + shorten(step.dump()));
}

Value StepRunner::runNamed(Scope &scope, const std::string &name, Value x) {
  const Family &family = scope.family();
  if (family.find("blocks", name))
    return runBlock(scope, name, x);
  if (family.find("stacks", name))
    return StackBuilder(model, *this, scope, name).build(x);
  if (family.find("parts", name))
    return runPart(scope, name, x);
  return fail(scope, "no block, stack or part is called \"" + name + "\"");
}

Value StepRunner::runLayer(Scope &scope, const std::string &stack, Value x) {
  if (!scope.family().find("stacks", stack))
    return fail(scope, "no stack is called \"" + stack + "\"");
  if (model.layerPrefix().empty())
    return fail(scope, "a layer of \"" + stack + "\" outside of a layer");
  return StackBuilder(model, *this, scope, stack).buildLayer(x);
}

Value StepRunner::runBlock(Scope &scope, const std::string &name, Value x) {
  autopar::model::Block block(scope, name, model.error);
  if (model.error || !block.isEnabled())
    return x;
  BlockBuilder build = findBlockBuilder(block.kind());
  if (!build) {
    block.fail("no block kind is called \"" + block.kind() + "\"; there are " +
               join(blockKinds(), ", "));
    return {};
  }
  llvm::SaveAndRestore values(model.saved, &saved);
  Value y = build(model, block, x);
  block.finish();
  return y;
}

Value StepRunner::runPart(Scope &scope, const std::string &name, Value x) {
  Result<Scope *> part = scope.part(name);
  if (!part) {
    if (!model.error)
      model.error = part.error();
    return {};
  }
  const JsonValue &description = *scope.family().find("parts", name);
  auto rename = description.find("rename");
  bool renames = rename != description.end() && rename->is_object();
  if (renames)
    model.renames.push_back(&*rename);
  Value y = runModel(**part, x);
  if (renames)
    model.renames.pop_back();
  return y;
}

Value StepRunner::runModel(Scope &scope, Value x) {
  auto steps = scope.family().description.find("model");
  if (steps == scope.family().description.end())
    return fail(scope, "the family has no \"model\"");
  auto rename = scope.family().description.find("rename");
  bool renames = rename != scope.family().description.end();
  if (renames)
    model.renames.push_back(&*rename);
  Value y = run(scope, *steps, x);
  auto stored = scope.family().description.find("stored");
  if (y && stored != scope.family().description.end() && stored->is_object())
    for (auto it = stored->begin(); it != stored->end() && !model.error; ++it)
      buildStored(scope, it.key(), *it);
  if (renames)
    model.renames.pop_back();
  return y;
}

void StepRunner::buildStored(Scope &scope, const std::string &name,
                             const JsonValue &stored) {
  auto evaluate = [&](const char *key, JsonValue absent) {
    Result<JsonValue> value =
        scope.evaluate(stored.value(key, absent), "/stored/" + name);
    if (value)
      return *value;
    model.error = value.error();
    return absent;
  };
  if (!isTrue(evaluate("when", true)) || model.error)
    return;
  JsonValue width = evaluate("width", JsonValue());
  if (!width.is_number_integer() || width < 1 || !stored.contains("steps")) {
    fail(scope, "stored part \"" + name + "\" needs a width and steps");
    return;
  }
  func::FuncOp function = model.beginFunction(
      name, model.tokens(model.symbol("query"), {width.get<int64_t>()}));
  Value result =
      StepRunner(model).run(scope, stored["steps"], function.getArgument(0));
  if (!result)
    return;
  model.endFunction(function, result);
  model.addStored(function);
}

Value StepRunner::add(Scope &scope, Value a, Value b) {
  if (!a || !b || a.getType() != b.getType())
    return fail(scope, "a sum of values of different shapes");
  return AddOp::create(model.builder(), a.getType(), a, b);
}

/// Builds a block between the two ops of its hyper-connection: one mixes the
/// streams into the block's input, the other adds the block's output to the
/// streams.
Value StepRunner::runHyperConnection(Scope &scope, const std::string &name,
                                     const JsonValue &steps, Value x) {
  Value mixed = runNamed(scope, name, x);
  if (!mixed)
    return {};
  auto pre = mixed.getDefiningOp<HyperPreOp>();
  if (!pre || !pre.getPost())
    return fail(scope, "\"" + name +
                           "\" does not say how its block adds to the streams");
  Value y = run(scope, steps, mixed);
  if (!y)
    return {};
  if (y.getType() != mixed.getType())
    return fail(scope, "a hyper-connection around steps that return another "
                       "shape than they get");
  return HyperPostOp::create(model.builder(), x.getType(), x, y, pre.getPost(),
                             pre.getResidual());
}

Value StepRunner::runCombined(Scope &scope, const JsonValue &step, Value x) {
  if (auto it = step.find("residual"); it != step.end()) {
    Value y = run(scope, *it, x);
    return y ? add(scope, x, y) : Value();
  }
  if (auto it = step.find("hyper_connection");
      it != step.end() && it->is_string() && step.contains("around"))
    return runHyperConnection(scope, it->get<std::string>(), step["around"], x);
  if (auto it = step.find("sum"); it != step.end() && it->is_array()) {
    Value sum;
    for (const JsonValue &branch : *it) {
      Value y = run(scope, branch, x);
      if (!y)
        return {};
      // A branch whose blocks are all disabled adds nothing to the sum.
      if (y != x)
        sum = sum ? add(scope, sum, y) : y;
      if (model.error)
        return {};
    }
    return sum ? sum : x;
  }
  if (auto it = step.find("layer"); it != step.end() && it->is_string())
    return runLayer(scope, it->get<std::string>(), x);
  if (auto it = step.find("save"); it != step.end() && it->is_string()) {
    auto of = step.find("of");
    saved[it->get<std::string>()] = of == step.end() ? x : run(scope, *of, x);
    return x;
  }
  if (auto it = step.find("load"); it != step.end() && it->is_string()) {
    Value kept = saved.lookup(it->get<std::string>());
    return kept ? kept
                : fail(scope, "nothing was saved as \"" +
                                  it->get<std::string>() + "\"");
  }
  if (step.contains("when") && step.contains("then")) {
    Result<JsonValue> condition = scope.evaluate(step["when"], "when");
    if (condition)
      return isTrue(*condition) ? run(scope, step["then"], x) : x;
    model.error = condition.error();
    return {};
  }
  return fail(scope, "unknown step " + shorten(step.dump()));
}
