//===- ImportModel.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/ImportModel.h"

#include "StepRunner.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Model/UnreadKeys.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

/// Number of tokens of the step that an imported module describes, until a
/// workload is bound.
static constexpr int64_t defaultQuery = 2048;

/// Builds the function of the whole model; blocks add its inputs when they need
/// them.
static std::optional<Error> buildModelFunction(ModelBuilder &builder,
                                               Scope &scope) {
  func::FuncOp function = builder.beginFunction("model", {});
  Value result = StepRunner(builder).runModel(scope, {});
  if (builder.error)
    return builder.error;
  if (!result)
    return Error{scope.family().file, "the model computes nothing", ""};
  builder.endFunction(function, result);
  return std::nullopt;
}

/// Whether the model has a learned table with one row per position, so that it
/// has none for further positions.
static bool learnsPositions(ModuleOp module) {
  auto stop = [](PositionEmbeddingOp table) {
    return table.getSame() ? WalkResult::advance() : WalkResult::interrupt();
  };
  return module.walk(stop).wasInterrupted();
}

/// Warns of keys of the config that may be dimensions and had no effect.
/// Returns an error if one of them is a list whose layers differ.
static std::optional<Error> noteUnreadKeys(const Model &model,
                                           ModuleOp module) {
  Result<std::vector<std::string>> unread = unreadKeysOf(*model.scope);
  if (!unread)
    return unread.error();
  if (auto error = findUnreadLayers(model, *unread))
    return error;
  if (unread->empty())
    return std::nullopt;
  std::string keys = join(*unread, ", ");
  model.notes->defaults.push_back(
      {"unread keys", keys, "they may change shapes; nothing reads them"});
  module.emitWarning() << "keys of the config that may change shapes, and that "
                          "nothing reads: "
                       << keys;
  return std::nullopt;
}

Result<OwningOpRef<ModuleOp>>
autopar::importer::importModel(MLIRContext *context, const Model &model) {
  context->loadDialect<TransformerDialect, func::FuncDialect>();
  ModelBuilder builder(context, model);
  ImplicitLocOpBuilder &ops = builder.builder();
  OwningOpRef<ModuleOp> module = ModuleOp::create(ops.getLoc(), model.name);
  ops.setInsertionPointToEnd(module->getBody());
  std::optional<int64_t> longest = contextOf(model);
  auto workload = WorkloadOp::create(
      ops, StringAttr(), PhaseKind::prefill, 1, defaultQuery, defaultQuery,
      /*encoder_tokens=*/0, /*cross_tokens=*/0,
      ops.getStrArrayAttr({"phase", "batch", "query", "context"}));
  if (auto error = buildModelFunction(builder, *model.scope))
    return *error;
  if (model.unknownArchitecture)
    return *model.unknownArchitecture;
  // For a draft, unread keys are not reported: its layers follow from the
  // checkpoint's tensors, whatever the config says.
  if (model.draftRemark)
    module->emitWarning() << *model.draftRemark;
  else if (auto error = noteUnreadKeys(model, *module))
    return *error;
  if (learnsPositions(*module) && longest && *longest < defaultQuery) {
    workload.setQuery(*longest);
    workload.setContextLength(*longest);
  }
  if (std::optional<std::string> type = modelTypeOf(model))
    (*module)->setAttr(modelTypeAttribute, ops.getStringAttr(*type));
  if (longest)
    (*module)->setAttr(longestContextAttribute,
                       ops.getI64IntegerAttr(*longest));
  if (model.storedDtype)
    (*module)->setAttr(castFromAttribute, TypeAttr::get(fromElementType(
                                              context, *model.storedDtype)));
  if (!model.notes->defaults.empty()) {
    SmallVector<Attribute> defaults;
    for (const ModelDefault &one : model.notes->defaults)
      defaults.push_back(DefaultAttr::get(
          context, one.name,
          one.value.empty() ? StringAttr() : ops.getStringAttr(one.value),
          one.value.empty() ? StringAttr() : ops.getStringAttr(one.source)));
    (*module)->setAttr(DefaultAttr::moduleAttribute,
                       ops.getArrayAttr(defaults));
  }
  return module;
}
