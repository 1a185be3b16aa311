//===- QuantizationReader.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizationReader.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;

static std::string directory() {
  return dataDirectory("models") + "/quantization";
}

//===----------------------------------------------------------------------===//
// Settings and methods
//===----------------------------------------------------------------------===//

Result<std::optional<JsonReader>>
autopar::findSettings(const JsonReader &config) {
  std::vector<JsonReader> places = {config};
  if (config.has("text_config"))
    places.push_back(config.object("text_config"));
  std::optional<JsonReader> found;
  // MLX writes "quantization".
  for (const char *key :
       {"quantization_config", "compression_config", "quantization"})
    for (const JsonReader &place : places)
      if (!found && place.has(key))
        found = place.object(key);
  if (config.failed())
    return config.takeError();
  if (found && found->members().empty())
    found.reset();
  return found;
}

Result<std::optional<JsonReader>>
autopar::findSettingsOfFile(const JsonReader &file) {
  // ModelOpt says who made the file beside the settings.
  JsonReader settings =
      file.has("quantization") ? file.object("quantization") : file;
  if (!file.failed() && !settings.isObject())
    file.fail("expected an object");
  if (file.failed())
    return file.takeError();
  return std::optional<JsonReader>(settings);
}

/// A method's file. Its "fields" are read as those of families are.
static Result<Family> loadMethod(const std::string &name) {
  Family method;
  method.name = name;
  method.file = directory() + "/" + name + ".json";
  Result<JsonDocument> document = JsonDocument::readFile(method.file);
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  reader.allowOnly({"source", "aliases", "implied_by", "implied_in_file",
                    "fields", "skip", "never", "roles", "layers_only",
                    "splits_experts", "groups", "targets", "default_targets",
                    "exceptions", "overrides", "formats"});
  method.source = reader.string("source");
  reader.array("formats");
  if (reader.failed())
    return reader.takeError();
  method.description = document->toJson();
  return method;
}

static bool hasAlias(const Family &method, const std::string &name) {
  auto aliases = method.description.find("aliases");
  return aliases != method.description.end() && aliases->is_array() &&
         std::find(aliases->begin(), aliases->end(), name) != aliases->end();
}

/// Whether settings that name no method are this one's.
static Result<bool> isImplied(const Family &method, const JsonReader &settings,
                              bool inOwnFile, ModelNotes &notes) {
  for (const char *key : {"implied_by", "implied_in_file"}) {
    auto condition = method.description.find(key);
    if (condition == method.description.end() ||
        (!inOwnFile && std::string_view(key) == "implied_in_file"))
      continue;
    Scope scope(method, settings, notes);
    Result<JsonValue> implied =
        scope.evaluate(*condition, std::string("/") + key);
    if (!implied)
      return implied.error();
    if (isTrue(*implied))
      return true;
  }
  return false;
}

/// The method that the settings name, or that their keys imply.
static Result<Family> findMethod(const JsonReader &settings, bool inOwnFile,
                                 ModelNotes &notes) {
  std::string name = settings.optionalString("quant_method").value_or("");
  if (settings.failed())
    return settings.takeError();
  std::vector<std::string> known = namesIn(directory());
  for (const std::string &candidate : known) {
    Result<Family> method = loadMethod(candidate);
    if (!method || name == candidate || hasAlias(*method, name))
      return method;
    if (!name.empty())
      continue;
    Result<bool> implied = isImplied(*method, settings, inOwnFile, notes);
    if (!implied)
      return implied.error();
    if (*implied)
      return method;
  }
  if (name.empty())
    settings.fail("missing field \"quant_method\"",
                  "known: " + join(known, ", "));
  else
    settings.failAt("quant_method",
                    "unknown quantization method \"" + shorten(name) + "\"",
                    "known: " + join(known, ", "));
  return settings.takeError();
}

//===----------------------------------------------------------------------===//
// Schemes
//===----------------------------------------------------------------------===//

namespace {

/// Reads the settings of one model.
class RulesReader {
public:
  RulesReader(Scope &scope, ModelNotes &notes, QuantizationRules &rules)
      : scope(scope), notes(notes), rules(rules) {}

  std::optional<Error> read() {
    readRoles();
    rules.layersOnly = isTrue(evaluate(scope, "layers_only"));
    rules.splitsExperts = isTrue(evaluate(scope, "splits_experts"));
    for (const char *key : {"skip", "never"})
      addPatterns(evaluate(scope, key), rules.skipped);
    readOverrides();
    readExceptions();
    readSchemes();
    return error;
  }

private:
  /// The value of an expression of the method's file, null where it is absent
  /// or wrong.
  JsonValue evaluate(Scope &from, const JsonValue &description,
                     const char *key) {
    auto found = description.find(key);
    if (error || found == description.end())
      return {};
    Result<JsonValue> value = from.evaluate(*found, std::string("/") + key);
    if (value)
      return std::move(*value);
    error = value.error();
    return {};
  }
  JsonValue evaluate(Scope &from, const char *key) {
    return evaluate(from, from.family().description, key);
  }

  void fail(Error problem) {
    if (!error)
      error = std::move(problem);
  }
  /// An error of the settings.
  void failAt(const Scope &from, const std::string &message,
              const std::string &note = "") {
    const JsonReader &at = from.config();
    at.fail(message, note);
    fail(at.takeError());
  }

  void readRoles() {
    static const std::map<std::string, WeightRole> names = {
        {"product", WeightRole::product},
        {"expert", WeightRole::expert},
        {"packed", WeightRole::packed},
        {"router", WeightRole::router},
        {"head", WeightRole::head}};
    for (const JsonValue &name : evaluate(scope, "roles")) {
      auto role = names.find(name.is_string() ? name.get<std::string>() : "");
      if (role != names.end())
        rules.roles.insert(role->second);
      else
        fail({scope.family().file + ": /roles", "unknown role " + name.dump(),
              ""});
    }
  }

  void addPattern(const JsonValue &entry, ModulePatterns &patterns) {
    if (!entry.is_string())
      return failAt(scope, "expected names of modules, found " +
                               shorten(entry.dump()));
    if (auto problem = patterns.add(entry.get_ref<const std::string &>()))
      failAt(scope, *problem);
  }

  void addPatterns(const JsonValue &list, ModulePatterns &patterns) {
    for (const JsonValue &entry : list)
      addPattern(entry, patterns);
  }

  //===--------------------------------------------------------------------===//
  // Schemes
  //===--------------------------------------------------------------------===//

  /// An object of regular expressions, of which "-:<regex>" leaves modules
  /// plain; others would change their settings.
  void readOverrides() {
    static constexpr std::string_view excludes = "-:";
    JsonValue overrides = evaluate(scope, "overrides");
    for (auto it = overrides.begin(); it != overrides.end(); ++it) {
      bool isKnown = overrides.is_object() && it.key().rfind(excludes, 0) == 0;
      if (!isKnown)
        return failAt(scope,
                      "settings of single modules are not known, found " +
                          shorten(overrides.dump()),
                      "known: \"-:<regular expression>\", which leaves modules "
                      "plain");
      addPattern("re:" + it.key().substr(excludes.size()), rules.skipped);
    }
  }

  /// Modules that the method keeps in formats of their own.
  void readExceptions() {
    for (const JsonValue &entry : evaluate(scope, "exceptions")) {
      QuantizationScheme &scheme = rules.schemes.emplace_back();
      addPatterns(entry["targets"], scheme.targets);
      scheme.format = loadEntry(scope, entry);
    }
  }

  void readSchemes() {
    JsonValue groups = evaluate(scope, "groups");
    if (error)
      return;
    if (groups.is_string())
      return readGroups(groups.get<std::string>());
    QuantizationScheme &scheme = rules.schemes.emplace_back();
    scheme.isDefault = true;
    scheme.format = readFormat(scope);
  }

  /// One scheme for each member of the object `key`; those that differ in
  /// their names only are one.
  void readGroups(const std::string &key) {
    JsonReader groups = scope.config().object(key);
    bool named = scope.family().description.contains("targets");
    std::map<std::string, size_t> known;
    for (const auto &[name, group] : groups.members()) {
      auto [it, isNew] =
          known.try_emplace(group.toJson().dump(), rules.schemes.size());
      if (isNew && !readGroup(group))
        break;
      if (!named)
        addPattern(name, rules.schemes[it->second].targets);
    }
    if (groups.failed())
      fail(groups.takeError());
  }

  bool readGroup(const JsonReader &group) {
    if (!group.isObject())
      group.fail("expected an object");
    if (rules.schemes.size() >= limits::maxQuantizationSchemes)
      group.fail("there are more than " +
                 std::to_string(limits::maxQuantizationSchemes) +
                 " different groups");
    if (group.failed())
      return false;
    Scope inner(scope.family(), group, notes, &scope);
    if (auto problem = inner.checkFields()) {
      fail(*problem);
      return false;
    }
    QuantizationScheme &scheme = rules.schemes.emplace_back();
    JsonValue all = evaluate(inner, "default_targets");
    for (const JsonValue &target : evaluate(inner, "targets"))
      if (all.is_array() &&
          std::find(all.begin(), all.end(), target) != all.end())
        scheme.isDefault = true;
      else
        addPattern(target, scheme.targets);
    scheme.format = readFormat(inner);
    return !error;
  }

  //===--------------------------------------------------------------------===//
  // Formats
  //===--------------------------------------------------------------------===//

  /// The first format whose condition holds.
  std::optional<Format> readFormat(Scope &from) {
    const JsonValue &formats = from.family().description["formats"];
    std::vector<std::string> conditions;
    for (const JsonValue &entry : formats) {
      if (entry.contains("when") && !isTrue(evaluate(from, entry, "when"))) {
        conditions.push_back(entry["when"].is_string() ? entry["when"] : "");
        continue;
      }
      return error ? std::nullopt : loadEntry(from, entry);
    }
    failAt(from,
           "this form of quantization method \"" + from.family().name +
               "\" is not known",
           "known: " + join(conditions, "; "));
    return std::nullopt;
  }

  std::optional<Format> loadEntry(Scope &from, const JsonValue &entry) {
    auto name = entry.find("format");
    if (name == entry.end() || !name->is_string())
      return std::nullopt;
    static const JsonValue none = JsonValue::object();
    auto given = entry.find("parameters");
    const JsonValue &expressions = given == entry.end() ? none : *given;
    std::map<std::string, int64_t> parameters;
    for (auto it = expressions.begin(); it != expressions.end(); ++it) {
      JsonValue value = evaluate(from, expressions, it.key().c_str());
      if (value.is_boolean())
        parameters[it.key()] = value.get<bool>();
      else if (value.is_number_integer())
        parameters[it.key()] = value.get<int64_t>();
      else
        failAt(from, "expected an integer for \"" + it.key() + "\", found " +
                         shorten(value.dump()));
    }
    bool weightOnly = isTrue(evaluate(from, entry, "weight_only"));
    if (error)
      return std::nullopt;
    Result<Format> format = loadFormat(*name, parameters);
    if (!format) {
      failAt(from, "format " + name->get<std::string>() + ": " +
                       format.error().message);
      return std::nullopt;
    }
    if (weightOnly)
      format->compute.reset();
    return std::move(*format);
  }

  Scope &scope;
  ModelNotes &notes;
  QuantizationRules &rules;
  std::optional<Error> error;
};

} // namespace

std::optional<Error> autopar::readQuantization(const JsonReader &settings,
                                               bool inOwnFile,
                                               ModelNotes &notes,
                                               QuantizationRules &rules) {
  Result<Family> method = findMethod(settings, inOwnFile, notes);
  if (!method)
    return method.error();
  Scope scope(std::move(*method), settings, notes);
  if (auto error = scope.checkFields())
    return error;
  return RulesReader(scope, notes, rules).read();
}
