//===- Family.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Family.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

using namespace autopar;
using namespace autopar::model;

/// Largest number of family files that may build on each other.
static constexpr unsigned maxBases = 16;

static std::string fileIn(const std::string &folder,
                          const std::string &modelType) {
  return folder + "/" + modelType + ".json";
}

static std::string libraryFolder() {
  return dataDirectory("models") + "/families";
}

/// Returns the value of an environment variable that is set and not empty.
static std::optional<std::string> environment(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::string autopar::model::userFamiliesFolder() {
  if (auto folder = environment("AUTOPAR_FAMILIES"))
    return *folder;
  if (auto config = environment("XDG_CONFIG_HOME"))
    return *config + "/autopar/families";
  auto home = environment("HOME");
  return home ? *home + "/.config/autopar/families" : "";
}

/// Returns the path of the user's family file if there is one, else that of the
/// library's.
static std::string pathOf(const std::string &modelType) {
  std::string own = fileIn(userFamiliesFolder(), modelType);
  return fileExists(own) ? own : fileIn(libraryFolder(), modelType);
}

/// Whether a model type may be used as a file name, without leaving the
/// directory.
static bool isFileName(const std::string &name) {
  auto isSafe = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), isSafe);
}

bool autopar::model::hasFamily(const std::string &modelType) {
  return isFileName(modelType) && fileExists(pathOf(modelType));
}

std::vector<std::string> autopar::model::familyNames() {
  std::set<std::string> names;
  for (const std::string &folder : {libraryFolder(), userFamiliesFolder()})
    for (const std::string &file : listFiles(folder, ".json"))
      names.insert(file.substr(0, file.size() - 5));
  return {names.begin(), names.end()};
}

std::vector<std::string>
autopar::model::familiesOf(const std::string &architecture) {
  std::map<std::string, std::string> bases;
  for (const std::string &name : familyNames()) {
    Result<JsonDocument> document = JsonDocument::readFile(pathOf(name));
    if (!document)
      continue;
    JsonValue family = document->toJson();
    JsonValue listed = family.value("architectures", JsonValue::array());
    if (std::find(listed.begin(), listed.end(), architecture) != listed.end())
      bases[name] = family.value("base", "");
  }
  // A name such as "qwen2_vl_text" is a part of the family "qwen2_vl".
  auto isPart = [&](const std::string &name) {
    return std::any_of(bases.begin(), bases.end(), [&](const auto &other) {
      return name.rfind(other.first + "_", 0) == 0;
    });
  };
  std::vector<std::string> found;
  for (const auto &[name, base] : bases)
    if (!isPart(name) && (!bases.count(base) || isPart(base)))
      found.push_back(name);
  return found;
}

/// Removes the defaults of sizes from a base family if its config class is
/// another one: each class has its own defaults.
static void dropClassDefaults(JsonValue &base, const JsonValue &source) {
  if (!base.contains("fields") || base["source"] == source)
    return;
  for (JsonValue &field : base["fields"])
    if (field.is_object())
      field.erase("class_default");
}

static Result<JsonValue> loadMerged(const std::string &name, unsigned depth);

/// Returns the description in `document`, merged with those of the families on
/// which it builds.
static Result<JsonValue> merge(const JsonDocument &document, unsigned depth) {
  JsonReader reader = document.reader();
  reader.allowOnly({"base", "source", "architectures", "fields", "blocks",
                    "stacks", "parts", "model", "stored", "note", "rename",
                    "remarks", "draft"});
  std::optional<std::string> base = reader.optionalString("base");
  if (reader.failed())
    return reader.takeError();
  if (!base)
    return document.toJson();
  Result<JsonValue> merged = loadMerged(*base, depth + 1);
  if (!merged)
    return merged;
  if (reader.has("source"))
    dropClassDefaults(*merged, reader.member("source").toJson());
  // Whether a family is a draft is not inherited: each family states it for
  // itself.
  merged->erase("draft");
  merged->merge_patch(document.toJson());
  return merged;
}

/// Returns the description in the file of `name`, merged with those of the
/// families on which it builds.
static Result<JsonValue> loadMerged(const std::string &name, unsigned depth) {
  if (depth > maxBases || !isFileName(name))
    return Error{pathOf(name), "not a family that others can build on", ""};
  Result<JsonDocument> document = JsonDocument::readFile(pathOf(name));
  return document ? merge(*document, depth)
                  : Result<JsonValue>(document.error());
}

/// Removes KV caches: models with a head of models/tasks.json answer after one
/// pass over all tokens, so that no later token reads cached keys and values.
static void dropCaches(JsonValue &blocks) {
  for (JsonValue &block : blocks) {
    auto kind = block.find("is");
    if (kind != block.end() && *kind == "attention")
      block["cache"] = false;
  }
}

Result<bool> autopar::model::applyTask(Family &family,
                                       const std::string &architecture) {
  auto known = family.description.find("architectures");
  std::string path = dataDirectory("models") + "/tasks.json";
  if (known == family.description.end() || !family.find("blocks", "head") ||
      !fileExists(path))
    return false;
  Result<JsonDocument> tasks = JsonDocument::readFile(path);
  if (!tasks)
    return tasks.error();
  auto stemOf = [](const std::string &name, const std::string &suffix) {
    bool ends =
        name.size() > suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
    return ends ? name.substr(0, name.size() - suffix.size()) : "";
  };
  JsonValue all = tasks->toJson();
  for (auto task = all.begin(); task != all.end(); ++task)
    for (const JsonValue &other : *known)
      for (const char *text : {"ForCausalLM", "LMHeadModel"}) {
        std::string stem = stemOf(other.get<std::string>(), text);
        if (stem.empty() || stem != stemOf(architecture, task.key()))
          continue;
        // A family that lists the architecture already has the right head.
        if (std::find(known->begin(), known->end(), architecture) ==
            known->end()) {
          family.description["blocks"]["head"] = (*task)["head"];
          family.description.merge_patch((*task)["patch"]);
        }
        dropCaches(family.description["blocks"]);
        return true;
      }
  return false;
}

static Result<Family> makeFamily(const std::string &modelType, std::string file,
                                 Result<JsonValue> description) {
  if (!description)
    return description.error();
  Family family;
  family.name = modelType;
  family.file = std::move(file);
  family.description = std::move(*description);
  auto source = family.description.find("source");
  if (source == family.description.end() || !source->is_string())
    return Error{family.file, "missing field \"source\"", ""};
  family.source = source->get<std::string>();
  return family;
}

Result<Family> autopar::model::loadFamily(const std::string &modelType) {
  return makeFamily(modelType, pathOf(modelType), loadMerged(modelType, 0));
}

Result<Family> autopar::model::parseFamily(const std::string &modelType,
                                           const std::string &text) {
  std::string name = "<draft of " + modelType + ">";
  Result<JsonDocument> document = JsonDocument::parse(text, name);
  if (!document)
    return document.error();
  return makeFamily(modelType, name, merge(*document, 0));
}

const JsonValue *Family::find(const char *section,
                              const std::string &key) const {
  auto outer = description.find(section);
  if (outer == description.end() || !outer->is_object())
    return nullptr;
  auto inner = outer->find(key);
  return inner == outer->end() || inner->is_null() ? nullptr : &*inner;
}
