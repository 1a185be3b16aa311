//===- ImportModel.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/ImportModel.h"

#include "StepRunner.h"
#include "autopar/Dialect/Transformer/Transformer.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// The step that a fresh import describes, until another is bound.
static constexpr int64_t defaultQuery = 2048;

/// Builds a private function for each part of the checkpoint that a step does
/// not run: {"when": condition, "width": n, "steps": [..]}.
static std::optional<Error> buildStored(ModelBuilder &builder, Scope &scope) {
  auto stored = scope.family().description.find("stored");
  if (stored == scope.family().description.end() || !stored->is_object())
    return std::nullopt;
  for (auto it = stored->begin(); it != stored->end(); ++it) {
    std::string pointer = "/stored/" + it.key();
    auto evaluate = [&](const char *key) -> Result<JsonValue> {
      return scope.evaluate(it->value(key, JsonValue(true)), pointer);
    };
    Result<JsonValue> when = evaluate("when");
    if (!when)
      return when.error();
    if (!isTrue(*when))
      continue;
    Result<JsonValue> width = evaluate("width");
    if (!width)
      return width.error();
    if (!width->is_number_integer() || !it->contains("steps"))
      return Error{scope.family().file + ": " + pointer,
                   "expected a width and steps", ""};
    func::FuncOp function = builder.beginFunction(
        it.key(), builder.tokens("query", {width->get<int64_t>()}));
    Value result =
        StepRunner(builder).run(scope, (*it)["steps"], function.getArgument(0));
    if (builder.error)
      return builder.error;
    builder.endFunction(function, result);
  }
  return std::nullopt;
}

/// Builds the function of the model, whose inputs come as blocks ask for them.
static std::optional<Error> buildModelFunction(ModelBuilder &builder,
                                               Scope &scope) {
  auto steps = scope.family().description.find("model");
  if (steps == scope.family().description.end())
    return Error{scope.family().file, "the family has no \"model\"", ""};
  func::FuncOp function = builder.beginFunction("model", {});
  Value result = StepRunner(builder).run(scope, *steps, {});
  if (builder.error)
    return builder.error;
  if (!result)
    return Error{scope.family().file, "the model computes nothing", ""};
  if (auto error = buildStored(builder, scope))
    return error;
  builder.endFunction(function, result);
  return std::nullopt;
}

Result<OwningOpRef<ModuleOp>> autopar::importModel(MLIRContext *context,
                                                   const Model &model) {
  context->loadDialect<TransformerDialect, func::FuncDialect>();
  ModelBuilder builder(context, model);
  ImplicitLocOpBuilder &ops = builder.builder();
  OwningOpRef<ModuleOp> module = ModuleOp::create(ops.getLoc(), model.name);
  ops.setInsertionPointToEnd(module->getBody());
  WorkloadOp::create(ops, "w", PhaseKind::prefill, 1, defaultQuery,
                     defaultQuery);
  if (auto error = buildModelFunction(builder, *model.scope))
    return *error;
  if (model.unknownArchitecture)
    return *model.unknownArchitecture;
  if (!model.notes->defaults.empty()) {
    SmallVector<StringRef> defaults(model.notes->defaults.begin(),
                                    model.notes->defaults.end());
    (*module)->setAttr("transformer.defaults", ops.getStrArrayAttr(defaults));
  }
  return module;
}
