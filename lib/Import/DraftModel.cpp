//===- DraftModel.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/DraftModel.h"

#include "autopar/Import/ImportModel.h"
#include "autopar/Import/Tensors.h"
#include "autopar/Model/DraftOrigin.h"
#include "autopar/Support/Text.h"

#include "mlir/IR/Diagnostics.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::importer;
using namespace autopar::model;
using namespace mlir;

using Json = nlohmann::ordered_json;

/// Number of families that are shown as similar.
static constexpr size_t offered = 3;

/// Returns a draft that is a known family under another name, because that
/// family has exactly the tensors of the checkpoint.
static DraftedFamily renameFamily(const std::string &family,
                                  const JsonDocument &config,
                                  const CheckpointIndex &checkpoint) {
  DraftedFamily draft;
  draft.known = static_cast<int64_t>(checkpoint.tensors.size());
  draft.guesses = {"whatever tensors do not show (windows, rotation, how "
                   "experts are weighed) is as " +
                   family + " has it"};
  Json text = {{"base", family}, {"source", "its config.json"}};
  JsonValue values = config.toJson();
  if (auto classes = values.find("architectures"); classes != values.end())
    text["architectures"] = *classes;
  draft.text = text.dump(2) + "\n";
  return draft;
}

/// Adds to the text of the draft from which config it was made.
static std::optional<Error> addOrigin(DraftedFamily &draft,
                                      const JsonDocument &config) {
  Result<JsonValue> values = shapingValuesOf(config.toJson());
  if (!values)
    return values.error();
  Json text = Json::parse(draft.text);
  text["draft"] = {{"summary", draft.summary()},
                   {"guesses", draft.guesses},
                   {"has_numbers", draft.hasLiterals},
                   {"values", *values}};
  draft.text = text.dump(2) + "\n";
  return std::nullopt;
}

/// Returns the bytes of the weights that the drafted family makes for `config`.
static Result<Checked> countBytes(const std::string &modelType,
                                  const DraftedFamily &draft,
                                  const JsonDocument &config) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      said += diagnostic.str();
    return success();
  });
  Result<JsonDocument> copy = JsonDocument::parse("{}", config.name());
  if (!copy)
    return copy.error();
  copy->set(config.toJson());
  auto make = [&](const JsonDocument &,
                  std::string &) -> Result<std::optional<Family>> {
    Result<Family> family = parseFamily(modelType, draft.text);
    return family ? Result<std::optional<Family>>(std::move(*family))
                  : family.error();
  };
  Result<Model> model =
      readModel(std::move(*copy), config.name(), {}, "", make);
  if (!model)
    return model.error();
  Result<OwningOpRef<ModuleOp>> module = importModel(&context, *model);
  if (!module)
    return module.error();
  Checked bytes = 0;
  auto visit = [&](StringRef, const transformer::StoredTensor &tensor) {
    Checked elements = 1;
    for (int64_t size : tensor.shape)
      elements *= size;
    bytes += ceilDiv(elements * bitsOf(tensor.type), 8);
  };
  if (failed(forEachTensor(**module, visit)))
    return Error{config.name(), said, ""};
  return bytes;
}

Result<ModelDraft>
autopar::importer::draftModel(const std::string &modelType,
                              const JsonDocument &config,
                              const CheckpointIndex &checkpoint) {
  if (!config.reader().isObject())
    return Error{config.name(), "expected an object", ""};
  ModelDraft draft;
  draft.nearest = nearestFamilies(config, checkpoint, offered);
  if (!draft.nearest.empty() && draft.nearest.front().isEqual) {
    draft.family =
        renameFamily(draft.nearest.front().family, config, checkpoint);
  } else {
    Result<DraftedFamily> family = draftFamily(config, checkpoint);
    if (!family)
      return family.error();
    draft.family = std::move(*family);
  }
  if (!draft.nearest.empty())
    draft.family.guesses.push_back("nearest families: " +
                                   formatLikenesses(draft.nearest));
  // The draft is marked as one before it is imported, as it will be for users.
  if (auto error = addOrigin(draft.family, config))
    return *error;
  Result<Checked> bytes = countBytes(modelType, draft.family, config);
  if (!bytes)
    return bytes.error();
  if (*bytes == checkpoint.bytes())
    return draft;
  draft.family.guesses.push_back("its weights take " + formatInteger(*bytes) +
                                 " bytes, those of the checkpoint " +
                                 formatInteger(checkpoint.bytes()));
  if (auto error = addOrigin(draft.family, config))
    return *error;
  return draft;
}
