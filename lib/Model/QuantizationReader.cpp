//===- QuantizationReader.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizationReader.h"

#include "FieldTypes.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

static std::string directory() {
  return dataDirectory("models") + "/quantization";
}

//===----------------------------------------------------------------------===//
// Settings of a checkpoint, and their quantisation method
//===----------------------------------------------------------------------===//

Result<std::optional<JsonReader>>
autopar::model::findSettings(const JsonReader &config) {
  std::vector<JsonReader> places = {config};
  if (config.has("text_config"))
    places.push_back(config.object("text_config"));
  std::optional<JsonReader> found;
  // MLX writes its settings under the key "quantization".
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
autopar::model::findSettingsOfFile(const JsonReader &file) {
  // ModelOpt's file has its settings in a member, beside one about its
  // producer.
  JsonReader settings =
      file.has("quantization") ? file.object("quantization") : file;
  if (!file.failed() && !settings.isObject())
    file.fail("expected an object");
  if (file.failed())
    return file.takeError();
  return std::optional<JsonReader>(settings);
}

/// Loads the file of a quantisation method. Its "fields" are read like those of
/// families.
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
                    "exceptions", "overrides", "override_key",
                    "modules_in_settings", "formats"});
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

/// Whether settings that do not name a method belong to `method`, by the keys
/// that they have.
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

/// Finds the method that the settings name, or that their keys imply.
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
// Reading rules for modules
//===----------------------------------------------------------------------===//

namespace {

/// Whether a module name in the settings is a regular expression: a glob has no
/// `*` after a dot.
static bool isRegex(const std::string &name) {
  return name.find_first_of("\\^$([|+") != std::string::npos ||
         name.find(".*") != std::string::npos;
}

/// Reads the quantisation settings of one model.
class RulesReader {
public:
  RulesReader(Scope &scope, ModelNotes &notes, QuantizationRules &rules)
      : scope(scope), notes(notes), rules(rules) {}

  std::optional<Error> read() {
    rules.roles = readRoles(scope.family().description);
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
  /// Returns the value of an expression in the method's file; null if there is
  /// none, or after an error.
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
  /// Records an error in the settings of the quantisation.
  void failAt(const Scope &from, const std::string &message,
              const std::string &note = "") {
    const JsonReader &at = from.config();
    at.fail(message, note);
    fail(at.takeError());
  }

  std::set<WeightRole> readRoles(const JsonValue &description) {
    static const std::map<std::string, WeightRole> known = {
        {"product", WeightRole::product}, {"expert", WeightRole::expert},
        {"packed", WeightRole::packed},   {"router", WeightRole::router},
        {"head", WeightRole::head},       {"embedding", WeightRole::embedding}};
    std::set<WeightRole> roles;
    for (const JsonValue &name : evaluate(scope, description, "roles")) {
      auto role = known.find(name.is_string() ? name.get<std::string>() : "");
      if (role != known.end())
        roles.insert(role->second);
      else
        fail({scope.family().file + ": /roles", "unknown role " + name.dump(),
              ""});
    }
    return roles;
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
  // Reading settings for single modules
  //===--------------------------------------------------------------------===//

  /// Reads settings for single modules, by name or by regular expression.
  void readOverrides() {
    JsonValue overrides = evaluate(scope, "overrides");
    if (isTrue(evaluate(scope, "modules_in_settings")))
      overrides = membersForModules();
    if (error || overrides.is_null())
      return;
    if (!overrides.is_object())
      return failAt(scope, "expected an object of settings by module, found " +
                               shorten(overrides.dump()));
    std::map<std::string, size_t> known;
    for (auto it = overrides.begin(); it != overrides.end() && !error; ++it)
      readOverride(it.key(), it.value(), known);
  }

  /// Returns the members of the settings that are not fields of the method: MLX
  /// writes settings of modules next to the general ones.
  JsonValue membersForModules() {
    JsonValue modules = JsonValue::object(), all = scope.config().toJson();
    const JsonValue &fields = scope.family().description["fields"];
    for (auto it = all.begin(); it != all.end(); ++it)
      if (!fields.contains(it.key()) && (it->is_object() || it->is_boolean()))
        modules[it.key()] = *it;
    return modules;
  }

  /// Reads the settings of one module pattern. "-:" before the pattern, or
  /// false as settings, leaves the modules unquantised; an object changes the
  /// general settings for them. `known` has the schemes made so far, by their
  /// changes.
  void readOverride(const std::string &key, const JsonValue &changes,
                    std::map<std::string, size_t> &known) {
    std::string sign = key.substr(0, 2);
    bool isSigned = sign == "-:" || sign == "+:";
    std::string modules = key.substr(isSigned ? sign.size() : 0);
    if (isSigned || isRegex(modules))
      modules = "re:" + modules;
    if (sign == "-:" || changes == false)
      return addPattern(modules, rules.skipped);
    if (changes == true)
      return;
    if (!changes.is_object())
      return failAt(scope,
                    "expected settings of \"" + shorten(key) + "\", found " +
                        showValue(changes),
                    "an object changes settings for modules; \"-:\" before "
                    "their names, or false, leaves them plain");
    auto [it, isNew] = known.try_emplace(changes.dump(), rules.schemes.size());
    if (isNew) {
      std::optional<Format> format = readChanged(key, changes);
      rules.schemes.emplace_back().format = std::move(format);
    }
    addPattern(modules, rules.schemes[it->second].targets);
  }

  /// Returns the format for the modules `key`, whose settings are the general
  /// ones with `changes`.
  std::optional<Format> readChanged(const std::string &key,
                                    const JsonValue &changes) {
    if (rules.schemes.size() >= limits::maxQuantizationSchemes)
      failAt(scope, "there are more than " +
                        std::to_string(limits::maxQuantizationSchemes) +
                        " different settings of modules");
    JsonValue settings = scope.config().toJson();
    auto part = scope.family().description.find("override_key");
    JsonValue &changed = part == scope.family().description.end()
                             ? settings
                             : settings[part->get<std::string>()];
    changed.merge_patch(changes);
    Result<JsonDocument> document = JsonDocument::parse(
        settings.dump(),
        rules.where + ": " + scope.config().pointer() + ", " + shorten(key));
    Result<Scope *> outer = scope.part("outer");
    if (!document || !outer)
      fail(!document ? document.error() : outer.error());
    if (error)
      return std::nullopt;
    Scope inner(scope.family(), document->reader(), notes, *outer);
    if (auto problem = inner.checkFields()) {
      fail(*problem);
      return std::nullopt;
    }
    return readFormat(inner);
  }

  /// Reads the modules that the method keeps in formats of their own.
  void readExceptions() {
    for (const JsonValue &entry : evaluate(scope, "exceptions")) {
      if (error ||
          (entry.contains("when") && !isTrue(evaluate(scope, entry, "when"))))
        continue;
      QuantizationScheme &scheme = rules.schemes.emplace_back();
      addPatterns(evaluate(scope, entry, "targets"), scheme.targets);
      scheme.roles = readRoles(entry);
      if (entry.contains("layers"))
        scheme.layers = readLayers(entry);
      scheme.format = loadEntry(scope, entry);
    }
  }

  /// Evaluates the expression "layers" for each layer `i` of the method's
  /// `layer_count`.
  std::vector<bool> readLayers(const JsonValue &entry) {
    std::vector<bool> layers;
    Result<const JsonValue *> count = scope.lookUp("layer_count");
    if (!count || !(*count)->is_number_integer()) {
      fail(count ? Error{scope.family().file + ": /fields/layer_count",
                         "expected a number of layers, found " +
                             showValue(**count),
                         ""}
                 : count.error());
      return layers;
    }
    int64_t number = (*count)->get<int64_t>();
    for (int64_t i = 0; i < number && !error; ++i) {
      scope.enterLayer(nullptr, i);
      layers.push_back(isTrue(evaluate(scope, entry, "layers")));
    }
    scope.leaveLayer();
    return layers;
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

  /// Makes one scheme for each member of the object `key`; members that differ
  /// only in their names share a scheme.
  void readGroups(const std::string &key) {
    JsonReader groups = scope.config();
    for (size_t begin = 0; begin < key.size();) {
      size_t end = std::min(key.find('.', begin), key.size());
      groups = groups.object(key.substr(begin, end - begin));
      begin = end + 1;
    }
    bool named = scope.family().description.contains("targets");
    std::map<std::string, size_t> known;
    for (const auto &[name, group] : groups.members()) {
      // A module whose settings are null is not quantised.
      if (groups.isNullMember(name)) {
        addPattern(name, rules.skipped);
        continue;
      }
      auto [it, isNew] =
          known.try_emplace(group.toJson().dump(), rules.schemes.size());
      if (isNew && !readGroup(group))
        break;
      QuantizationScheme &scheme = rules.schemes[it->second];
      if (!named && isDefaultTarget(name))
        scheme.isDefault = true;
      else if (!named)
        addPattern(name, scheme.targets);
    }
    if (groups.failed())
      fail(groups.takeError());
  }

  /// Whether `target` stands for all modules that no other group names.
  bool isDefaultTarget(const JsonValue &target) {
    JsonValue all = evaluate(scope, "default_targets");
    return all.is_array() &&
           std::find(all.begin(), all.end(), target) != all.end();
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
    for (const JsonValue &target : evaluate(inner, "targets"))
      if (isDefaultTarget(target))
        scheme.isDefault = true;
      else
        addPattern(target, scheme.targets);
    scheme.format = readFormat(inner);
    return !error;
  }

  //===--------------------------------------------------------------------===//
  // Choosing a format by its condition
  //===--------------------------------------------------------------------===//

  /// Returns the first format of the method whose condition holds.
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

std::optional<Error>
autopar::model::readQuantization(const JsonReader &settings, bool inOwnFile,
                                 const JsonReader &config, ModelNotes &notes,
                                 QuantizationRules &rules) {
  Result<Family> method = findMethod(settings, inOwnFile, notes);
  if (!method)
    return method.error();
  Scope model(Family(), config, notes);
  Scope scope(std::move(*method), settings, notes, &model);
  if (auto error = scope.checkFields())
    return error;
  return RulesReader(scope, notes, rules).read();
}
