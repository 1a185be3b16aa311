//===- Model.h - A config and its family ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_MODEL_H
#define AUTOPAR_MODEL_MODEL_H

#include "autopar/Hub/Hub.h"
#include "autopar/Model/Quantization.h"
#include "autopar/Support/ElementType.h"

#include <functional>

namespace autopar::model {

/// `--assume key=value`: a key of the config (a.b for nested ones), and JSON or
/// a bare text.
struct ConfigAssumption {
  std::string key, value;
};

/// Reads "key=value".
Result<ConfigAssumption> parseAssumption(const std::string &text);

/// A model whose config has been found and whose family is known. Fields are
/// read while it is imported.
struct Model {
  std::string name;
  ElementType dtype = ElementType::bf16;
  /// What the checkpoint has in place of `dtype`, where engines cast it.
  std::optional<ElementType> storedDtype = std::nullopt;
  std::unique_ptr<JsonDocument> config;
  Quantization quantization;
  std::unique_ptr<ModelNotes> notes;
  std::unique_ptr<Scope> scope;
  /// The family does not know the architecture: the import fails unless
  /// another field is worse.
  std::optional<Error> unknownArchitecture;
  /// What to warn of at each import: the family is a draft.
  std::optional<std::string> draftRemark = std::nullopt;
};

/// Called with a config whose model type has no family. Returns one, or
/// nothing; what it adds to `hint` is said where the import fails.
using MakeFamily = std::function<Result<std::optional<Family>>(
    const JsonDocument &config, std::string &hint)>;

/// Reads the files of a model, with weights as they are stored or, where it is
/// not empty, in `weightFormat`. Errors: malformed JSON, no family for the
/// model type, no such format.
Result<Model> readModel(const hub::ModelFiles &files,
                        const std::vector<ConfigAssumption> &assumptions = {},
                        const std::string &weightFormat = "",
                        const MakeFamily &makeFamily = nullptr);

/// The same of a config that is no file.
Result<Model> readModel(JsonDocument config, const std::string &name,
                        const std::vector<ConfigAssumption> &assumptions = {},
                        const std::string &weightFormat = "",
                        const MakeFamily &makeFamily = nullptr);

/// The fields that the family of `model` knows, with their values (defaults
/// included) as JSON; without those that are null, wrong or long.
std::vector<std::pair<std::string, std::string>> fieldsOf(const Model &model);

/// The `model_type` of the config, where it has one that is a short text.
std::optional<std::string> modelTypeOf(const Model &model);

/// The longest context that the config says the model was made for.
std::optional<int64_t> contextOf(const Model &model);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_MODEL_H
