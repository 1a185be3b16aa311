//===- Model.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Model.h"

#include "autopar/Support/Text.h"

using namespace autopar;

/// Sets `key` (nested with dots) of the config to JSON, or to a bare text.
static std::optional<Error> assume(JsonValue &config,
                                   const Assumption &assumption) {
  JsonValue *place = &config;
  std::string key = assumption.key;
  for (size_t dot; (dot = key.find('.')) != std::string::npos;
       key.erase(0, dot + 1)) {
    place = &(*place)[key.substr(0, dot)];
    if (!place->is_object() && !place->is_null())
      return Error{"--assume=" + assumption.key,
                   "\"" + key.substr(0, dot) + "\" is not an object", ""};
  }
  Result<JsonDocument> value =
      JsonDocument::parse(assumption.value, "--assume=" + assumption.key);
  (*place)[key] =
      value ? std::move(value->value()) : JsonValue(assumption.value);
  return std::nullopt;
}

/// The family for a config: its model type's, else its architecture's.
static Result<Family> findFamily(const JsonReader &config,
                                 const std::string &architecture) {
  std::string modelType;
  if (config.has("model_type"))
    modelType = config.string("model_type");
  for (const std::string &name : {modelType, architecture})
    if (!config.failed() && hasFamily(name))
      return loadFamily(name);
  if (modelType.empty())
    config.string("model_type");
  else
    config.failAt("model_type",
                  "unknown model type \"" + shorten(modelType) + "\"",
                  "supported: " + join(familyNames(), ", "));
  return config.takeError();
}

/// A family that lists its architectures knows no others.
static std::optional<Error> checkArchitecture(const JsonReader &config,
                                              const Family &family,
                                              const std::string &architecture) {
  auto known = family.description.find("architectures");
  if (architecture.empty() || known == family.description.end())
    return std::nullopt;
  std::vector<std::string> names;
  for (const JsonValue &name : *known) {
    if (name == architecture)
      return std::nullopt;
    if (name.is_string())
      names.push_back(name.get<std::string>());
  }
  config.failAt("architectures",
                "unknown architecture \"" + shorten(architecture) +
                    "\" of model type \"" + family.name + "\"",
                "known: " + join(names, ", ") +
                    "; if it has the same tensors, --assume " +
                    "architectures='[\"" +
                    (names.empty() ? "" : names.front()) + "\"]'");
  return config.takeError();
}

static std::string firstArchitecture(const JsonReader &config) {
  if (!config.has("architectures"))
    return "";
  std::vector<JsonReader> names = config.array("architectures").elements();
  return names.empty() ? "" : names.front().asString();
}

/// The settings in the config, else those in the file beside it.
static Result<Quantization> readQuantization(const JsonDocument &config,
                                             const ModelFiles &files,
                                             ModelNotes &notes) {
  if (!files.quantConfigPath)
    return Quantization::read(config, nullptr, notes);
  Result<JsonDocument> file = JsonDocument::readFile(
      *files.quantConfigPath, JsonDocument::Dialect::python);
  if (!file)
    return file.error();
  return Quantization::read(config, &*file, notes);
}

Result<Model> autopar::readModel(const ModelFiles &files,
                                 const std::vector<Assumption> &assumptions) {
  Model model;
  Result<JsonDocument> document =
      JsonDocument::readFile(files.configPath, JsonDocument::Dialect::python);
  if (!document)
    return document.error();
  model.config = std::make_unique<JsonDocument>(std::move(*document));
  model.notes = std::make_unique<ModelNotes>();
  for (const Assumption &assumption : assumptions) {
    if (model.config->value().is_object())
      if (auto error = assume(model.config->value(), assumption))
        return *error;
    model.notes->defaults.push_back(assumption.key + " = " + assumption.value +
                                    " (assumed by the user)");
  }
  JsonReader config = model.config->reader();
  std::string architecture = firstArchitecture(config);
  if (config.failed())
    return config.takeError();
  Result<Family> family = findFamily(config, architecture);
  if (!family)
    return family.error();
  model.unknownArchitecture =
      checkArchitecture(model.config->reader(), *family, architecture);
  model.name = files.name.empty() ? family->name : files.name;
  model.scope =
      std::make_unique<Scope>(std::move(*family), config, *model.notes);
  Result<JsonValue> dtype = model.scope->lookUp("dtype");
  if (!dtype)
    return dtype.error();
  std::optional<ElementType> type = parseElementType(
      dtype->is_string() ? dtype->get_ref<const std::string &>() : "");
  if (!type) {
    config.failAt(config.has("dtype") ? "dtype" : "torch_dtype",
                  "unknown format \"" + shorten(dtype->dump()) + "\"",
                  "known: bfloat16, float16, float32");
    return config.takeError();
  }
  model.dtype = *type;
  Result<Quantization> quantization =
      readQuantization(*model.config, files, *model.notes);
  if (!quantization)
    return quantization.error();
  model.quantization = std::move(*quantization);
  return model;
}
