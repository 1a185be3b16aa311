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

/// A user's `--assume key=value`: a key of the config (a.b for nested ones),
/// and its value as JSON or as bare text.
struct ConfigAssumption {
  std::string key, value;
};

/// Parses an assumption about a config field, written as "key=value".
Result<ConfigAssumption> parseAssumption(const std::string &text);

/// A model whose config has been found and whose family is known. The fields of
/// the config are read when the model is imported.
struct Model {
  std::string name;
  ElementType dtype = ElementType::bf16;
  /// The number format of the checkpoint, if runtimes convert it to `dtype`
  /// when they load it.
  std::optional<ElementType> storedDtype = std::nullopt;
  std::unique_ptr<JsonDocument> config;
  Quantization quantization;
  std::unique_ptr<ModelNotes> notes;
  std::unique_ptr<Scope> scope;
  /// The error for an architecture that the family does not know. The import
  /// reports it unless it finds a worse error.
  std::optional<Error> unknownArchitecture;
  /// The warning for each import if the family is a draft; nothing if it is
  /// not.
  std::optional<std::string> draftRemark = std::nullopt;
};

/// A function that is called with a config whose model type has no family. It
/// returns a family, or nothing; text that it adds to `hint` is part of the
/// import's error.
using MakeFamily = std::function<Result<std::optional<Family>>(
    const JsonDocument &config, std::string &hint)>;

/// Reads the files of a model, with weights in the format of the checkpoint or,
/// if `weightFormat` is not "", in that format. Errors: malformed JSON, no
/// family for the model type, no such format.
Result<Model> readModel(const hub::ModelFiles &files,
                        const std::vector<ConfigAssumption> &assumptions = {},
                        const std::string &weightFormat = "",
                        const MakeFamily &makeFamily = nullptr);

/// Reads a model from a config that is not a file.
Result<Model> readModel(JsonDocument config, const std::string &name,
                        const std::vector<ConfigAssumption> &assumptions = {},
                        const std::string &weightFormat = "",
                        const MakeFamily &makeFamily = nullptr);

/// Returns the fields that the model's family knows, with their values as JSON,
/// defaults included. Fields that are null, wrong or long are left out.
std::vector<std::pair<std::string, std::string>> fieldsOf(const Model &model);

/// Returns the `model_type` of the config; nothing if it is missing or no short
/// text.
std::optional<std::string> modelTypeOf(const Model &model);

/// Returns the longest context, in tokens, for which the model was made, if the
/// config states it.
std::optional<int64_t> contextOf(const Model &model);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_MODEL_H
