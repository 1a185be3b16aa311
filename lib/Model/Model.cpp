//===- Model.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Model.h"

#include "autopar/Model/DraftOrigin.h"
#include "autopar/Model/UnreadKeys.h"
#include "autopar/Model/WeightFormat.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::model;

Result<ConfigAssumption>
autopar::model::parseAssumption(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error{
        "", "--assume expects key=value, found \"" + shorten(text) + "\"", ""};
  return ConfigAssumption{text.substr(0, equals), text.substr(equals + 1)};
}

/// Sets the config key of an assumption (nested with dots) to its value, JSON
/// or bare text.
static std::optional<Error> assume(JsonValue &config,
                                   const ConfigAssumption &assumption) {
  if (!isUtf8(assumption.key) || !isUtf8(assumption.value))
    return Error{"--assume=" + shorten(assumption.key), "is not UTF-8", ""};
  if (std::count(assumption.key.begin(), assumption.key.end(), '.') >
      limits::maxNestingDepth)
    return Error{"--assume=" + shorten(assumption.key),
                 "nested deeper than " +
                     std::to_string(limits::maxNestingDepth) + " levels",
                 ""};
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
  (*place)[key] = value ? value->toJson() : JsonValue(assumption.value);
  return std::nullopt;
}

/// Names the keys that a family would have to read in addition to those of
/// "llama", on which most families build.
static std::string unreadByLlama(const JsonReader &config) {
  ModelNotes notes;
  Result<Family> llama = loadFamily("llama");
  if (!llama)
    return "";
  Result<std::vector<std::string>> unread =
      unreadKeysOf(Scope(std::move(*llama), config, notes));
  if (!unread || unread->empty())
    return "";
  return "; a base \"llama\" reads nothing of " + join(*unread, ", ");
}

/// Returns a hint that names the model types which know an architecture; "" if
/// there are none.
static std::string hintOf(const std::string &architecture) {
  std::vector<std::string> types = familiesOf(architecture);
  return types.empty()
             ? ""
             : "; " + architecture + " is a class of " + join(types, ", ") +
                   ": --assume model_type=" + types.front() +
                   " reads the config as its";
}

/// Returns what models/not_built.json states about features of a model type
/// that no block can build.
static std::string notBuilt(const std::string &modelType) {
  std::string path = dataDirectory("models") + "/not_built.json";
  if (!fileExists(path))
    return "";
  Result<JsonDocument> document = JsonDocument::readFile(path);
  if (!document)
    return "";
  JsonValue all = document->toJson();
  auto types = all.find("types");
  if (types == all.end())
    return "";
  auto reason = types->find(modelType);
  return reason != types->end() && reason->is_string()
             ? reason->get<std::string>()
             : "";
}

static void failUnknown(const JsonReader &config, const std::string &modelType,
                        const std::string &architecture,
                        const std::string &further) {
  if (std::string reason = notBuilt(modelType); !reason.empty()) {
    config.failAt("model_type", "model type \"" + modelType + "\" is not built",
                  "it has " + reason);
    return;
  }
  std::vector<std::string> known = familyNames();
  std::string hint = hintOf(architecture);
  config.failAt("model_type",
                "unknown model type \"" + shorten(modelType) + "\"" +
                    (hint.empty() ? didYouMean(modelType, known) : ""),
                std::to_string(known.size()) +
                    " model types are files of models/families, whose "
                    "README.md says how to add one" +
                    hint + unreadByLlama(config) + further);
}

static std::string toLower(std::string text) {
  for (char &c : text)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Whether a family knows an architecture. A family without a list knows all.
/// Upper and lower case may differ: configs of the first Llama have
/// LLaMAForCausalLM.
static bool knowsArchitecture(const Family &family,
                              const std::string &architecture) {
  auto known = family.description.find("architectures");
  if (architecture.empty() || known == family.description.end())
    return true;
  return std::any_of(known->begin(), known->end(), [&](const JsonValue &name) {
    return name.is_string() &&
           toLower(name.get<std::string>()) == toLower(architecture);
  });
}

static bool isSpelledAsKnown(const Family &family,
                             const std::string &architecture) {
  auto known = family.description.find("architectures");
  return architecture.empty() || known == family.description.end() ||
         std::find(known->begin(), known->end(), architecture) != known->end();
}

/// Changes the family to one with the head of the architecture, if only the
/// head differs.
static std::optional<Error> adaptFamily(Family &family,
                                        const std::string &architecture,
                                        ModelNotes &notes) {
  std::string remark;
  bool isKnown = knowsArchitecture(family, architecture);
  if (isKnown && !isSpelledAsKnown(family, architecture))
    remark = "another spelling";
  Result<bool> applied = applyTask(family, architecture);
  if (!applied)
    return applied.error();
  if (!isKnown && *applied)
    remark = family.name + " with another head";
  if (remark.empty())
    return std::nullopt;
  family.description["architectures"].push_back(architecture);
  notes.defaults.push_back(
      {"architecture " + shorten(architecture) + " (" + remark + ")"});
  return std::nullopt;
}

/// Finds the family for a config without a model type: the only one that lists
/// its architecture.
static Result<Family> findFamilyOfClass(const JsonReader &config,
                                        const std::string &architecture,
                                        ModelNotes &notes) {
  std::vector<std::string> types;
  if (!architecture.empty())
    types = familiesOf(architecture);
  if (types.size() == 1) {
    notes.defaults.push_back(
        {"model_type", types.front(), "the type of " + architecture});
    return loadFamily(types.front());
  }
  config.failAt("model_type", "missing field \"model_type\"",
                types.empty()
                    ? "without it the first of \"architectures\" must be a "
                      "class that a file of models/families lists"
                    : architecture + " is a class of " + join(types, ", ") +
                          ": --assume model_type=" + types.front());
  return config.takeError();
}

/// Finds the family for a config: by its model type or, if that has no family
/// or one that does not know the architecture, by the architecture.
static Result<Family> findFamily(const Model &model,
                                 const std::string &architecture,
                                 const MakeFamily &makeFamily) {
  JsonReader config = model.config->reader();
  std::string modelType;
  if (config.has("model_type"))
    modelType = config.string("model_type");
  if (!config.failed() && hasFamily(modelType)) {
    Result<Family> family = loadFamily(modelType);
    if (!family || !hasFamily(architecture) ||
        knowsArchitecture(*family, architecture))
      return family;
  }
  if (!config.failed() && hasFamily(architecture))
    return loadFamily(architecture);
  if (!config.isObject())
    config.string("model_type");
  else if (!config.failed() && modelType.empty())
    return findFamilyOfClass(config, architecture, *model.notes);
  if (config.failed())
    return config.takeError();
  std::string hint;
  if (makeFamily) {
    Result<std::optional<Family>> made = makeFamily(*model.config, hint);
    if (!made)
      return made.error();
    if (*made) {
      if (std::string reason = notBuilt(modelType); !reason.empty())
        model.notes->defaults.push_back({"no block builds " + reason});
      return std::move(**made);
    }
  }
  failUnknown(config, modelType, architecture, hint);
  return config.takeError();
}

static std::optional<Error> checkArchitecture(const JsonReader &config,
                                              const Family &family,
                                              const std::string &architecture) {
  if (knowsArchitecture(family, architecture))
    return std::nullopt;
  std::vector<std::string> names;
  for (const JsonValue &name : family.description["architectures"])
    if (name.is_string())
      names.push_back(name.get<std::string>());
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

/// Reads the quantisation settings in the config or, if it has none, in the
/// separate file.
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

/// Calls `visit` for the keys and sub-configs that may state the number of
/// positions.
template <typename Visit>
static void forEachContext(const Model &model, Visit visit) {
  static constexpr const char *keys[] = {
      "max_position_embeddings", "n_positions",
      "max_sequence_length",     "seq_length",
      "max_target_positions",    "n_ctx",
      "model_max_length"};
  JsonReader root = model.config->reader();
  std::vector<JsonReader> configs = {root};
  if (root.has("text_config") && root.member("text_config").isObject())
    configs.push_back(root.object("text_config"));
  for (const JsonReader &config : configs)
    for (const char *key : keys)
      if (config.has(key))
        visit(config.member(key));
}

static std::optional<Error> checkContext(const Model &model) {
  std::optional<Error> error;
  forEachContext(model, [&](const JsonReader &length) {
    length.asInteger(1, limits::maxTokens);
    if (length.failed() && !error)
      error = length.takeError();
  });
  return error;
}

/// Adds the remarks of the family that apply to this config, for configs that
/// may mean another model.
static std::optional<Error> addRemarks(Scope &scope, ModelNotes &notes) {
  auto remarks = scope.family().description.find("remarks");
  if (remarks == scope.family().description.end())
    return std::nullopt;
  for (const JsonValue &remark : *remarks) {
    Result<JsonValue> applies =
        scope.evaluate(remark.value("when", JsonValue()), "/remarks");
    if (!applies)
      return applies.error();
    if (*applies == true)
      notes.defaults.push_back({remark.value("text", "")});
  }
  return std::nullopt;
}

/// Finds the family of a config, and reads the fields that every config has.
static std::optional<Error> readConfig(Model &model, const ModelFiles &files,
                                       const MakeFamily &makeFamily) {
  JsonReader config = model.config->reader();
  std::string architecture = firstArchitecture(config);
  if (config.failed())
    return config.takeError();
  Result<Family> family = findFamily(model, architecture, makeFamily);
  if (!family)
    return family.error();
  if (auto error = adaptFamily(*family, architecture, *model.notes))
    return error;
  model.unknownArchitecture =
      checkArchitecture(model.config->reader(), *family, architecture);
  model.name = files.name.empty() ? family->name : files.name;
  model.scope =
      std::make_unique<Scope>(std::move(*family), config, *model.notes);
  if (auto error = model.scope->checkFields())
    return error;
  if (auto error = checkDraftOrigin(*model.scope))
    return error;
  model.draftRemark = draftRemark(model.scope->family());
  if (model.draftRemark)
    model.notes->defaults.push_back({*model.draftRemark});
  if (auto error = addRemarks(*model.scope, *model.notes))
    return error;
  Result<const JsonValue *> found = model.scope->lookUp("dtype");
  if (!found)
    return found.error();
  const JsonValue &dtype = **found;
  std::optional<ElementType> type = parseElementType(
      dtype.is_string() ? dtype.get_ref<const std::string &>() : "");
  if (!type) {
    config.failAt(config.has("dtype") ? "dtype" : "torch_dtype",
                  "unknown format \"" + shorten(dtype.dump()) + "\"",
                  "known: bfloat16, float16, float32");
    return config.takeError();
  }
  model.dtype = *type;
  Result<Quantization> quantization =
      readQuantization(*model.config, files, *model.notes);
  if (!quantization)
    return quantization.error();
  model.quantization = std::move(*quantization);
  if (auto error = checkContext(model))
    return error;
  return std::nullopt;
}

/// Makes a model from a config that was read, and from the other files of the
/// model.
static Result<Model>
readModelOf(JsonDocument config, ModelFiles files,
            const std::vector<ConfigAssumption> &assumptions,
            const std::string &weightFormat, const MakeFamily &makeFamily) {
  Model model;
  model.config = std::make_unique<JsonDocument>(std::move(config));
  model.notes = std::make_unique<ModelNotes>();
  for (const ConfigAssumption &assumption : assumptions) {
    if (model.config->reader().isObject()) {
      JsonValue changed = model.config->toJson();
      if (auto error = assume(changed, assumption))
        return *error;
      model.config->set(changed);
    }
    model.notes->defaults.push_back(
        {assumption.key, assumption.value, "assumed by the user"});
  }
  if (!weightFormat.empty()) {
    if (auto error = setWeightFormat(*model.config, weightFormat))
      return *error;
    model.notes->defaults.push_back(
        {"weight format", weightFormat, "--weight-format"});
    files.quantConfigPath.reset();
  }
  if (auto error = readConfig(model, files, makeFamily))
    return *error;
  return model;
}

Result<Model> autopar::model::readModel(
    const ModelFiles &files, const std::vector<ConfigAssumption> &assumptions,
    const std::string &weightFormat, const MakeFamily &makeFamily) {
  Result<JsonDocument> document =
      JsonDocument::readFile(files.configPath, JsonDocument::Dialect::python);
  if (!document)
    return document.error();
  return readModelOf(std::move(*document), files, assumptions, weightFormat,
                     makeFamily);
}

Result<Model>
autopar::model::readModel(JsonDocument config, const std::string &name,
                          const std::vector<ConfigAssumption> &assumptions,
                          const std::string &weightFormat,
                          const MakeFamily &makeFamily) {
  return readModelOf(std::move(config), {name, "", std::nullopt, ""},
                     assumptions, weightFormat, makeFamily);
}

//===----------------------------------------------------------------------===//
// Texts for people
//===----------------------------------------------------------------------===//

std::vector<std::pair<std::string, std::string>>
autopar::model::fieldsOf(const Model &model) {
  static constexpr size_t longest = 60;
  std::vector<std::pair<std::string, std::string>> all;
  auto fields = model.scope->family().description.find("fields");
  if (fields == model.scope->family().description.end() || !fields->is_object())
    return all;
  for (auto it = fields->begin(); it != fields->end(); ++it) {
    Result<const JsonValue *> found = model.scope->lookUp(it.key());
    if (!found || (*found)->is_null())
      continue;
    const JsonValue &value = **found;
    std::string text =
        value.is_string() ? value.get<std::string>() : value.dump();
    if (text.size() <= longest)
      all.emplace_back(it.key(), std::move(text));
  }
  return all;
}

std::optional<std::string> autopar::model::modelTypeOf(const Model &model) {
  constexpr size_t longest = 100;
  JsonReader config = model.config->reader();
  std::optional<std::string> type = config.optionalString("model_type");
  bool isShort = type && !type->empty() && type->size() <= longest;
  return isShort && !config.failed() ? type : std::nullopt;
}

std::optional<int64_t> autopar::model::contextOf(const Model &model) {
  std::optional<int64_t> first;
  forEachContext(model, [&](const JsonReader &length) {
    if (!first)
      first = length.asInteger(1, limits::maxTokens);
  });
  return first;
}
