//===- LaunchTable.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/LaunchTable.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"

#include <algorithm>
#include <cctype>
#include <charconv>

using namespace autopar;
using namespace autopar::launch;
using model::Expression;
using model::JsonValue;

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

std::optional<Version> autopar::launch::parseVersion(std::string_view text) {
  if (!text.empty() && (text.front() == 'v' || text.front() == 'V'))
    text.remove_prefix(1);
  Version version;
  while (!text.empty()) {
    int64_t number = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0)
      break;
    version.push_back(number);
    text.remove_prefix(size_t(end - text.data()));
    if (text.size() < 2 || text.front() != '.' ||
        !std::isdigit(static_cast<unsigned char>(text[1])))
      break;
    text.remove_prefix(1);
  }
  if (version.empty())
    return std::nullopt;
  return version;
}

/// Compares as many numbers as both have: 0.11.2 is of 0.11.
static bool isBefore(const Version &first, const Version &second) {
  size_t count = std::min(first.size(), second.size());
  return std::lexicographical_compare(first.begin(), first.begin() + count,
                                      second.begin(), second.begin() + count);
}

bool VersionRange::has(const Version &version) const {
  return !(since && isBefore(version, *since)) &&
         !(until && isBefore(*until, version));
}

std::string
LaunchTable::recordedVersion(const std::optional<Version> &stated) const {
  if (!stated)
    return versions.back();
  std::string recorded = versions.front();
  for (const std::string &version : versions)
    if (!isBefore(*stated, *parseVersion(version)))
      recorded = version;
  return recorded;
}

std::vector<Version> LaunchTable::versionsAround(const Version &stated) const {
  std::vector<Version> around;
  for (const std::string &text : versions) {
    Version version = *parseVersion(text);
    if (isBefore(stated, version)) {
      // The next one, if no recorded version is the stated one.
      if (around.empty() || isBefore(around.back(), stated))
        around.push_back(std::move(version));
      break;
    }
    around = {std::move(version)};
  }
  return around;
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

const Expression *Formula::of(const Version &version) const {
  for (const auto &[versions, expression] : cases)
    if (versions.has(version))
      return &expression;
  return nullptr;
}

JsonValue Setting::toPlan(const JsonValue &value) const {
  if (value.is_array()) {
    JsonValue all = JsonValue::array();
    for (const JsonValue &element : value)
      all.push_back(toPlan(element));
    return all;
  }
  for (const auto &[engine, plan] : words)
    if (value == engine)
      return plan;
  return value;
}

JsonValue Setting::fromPlan(const JsonValue &value) const {
  if (value.is_array()) {
    JsonValue all = JsonValue::array();
    for (const JsonValue &element : value)
      all.push_back(fromPlan(element));
    return all;
  }
  for (const auto &[engine, plan] : words)
    if (value == plan)
      return engine;
  return value;
}

JsonValue Setting::defaultOf(const Version &version) const {
  for (const auto &[versions, value] : defaults)
    if (versions.has(version))
      return value;
  return nullptr;
}

const Setting *LaunchTable::setting(std::string_view wanted) const {
  for (const Setting &one : settings)
    if (one.name == wanted)
      return &one;
  return nullptr;
}

static std::optional<Version> readVersion(const JsonReader &reader,
                                          std::string_view key) {
  std::optional<std::string> text = reader.optionalString(key);
  if (!text)
    return std::nullopt;
  std::optional<Version> version = parseVersion(*text);
  if (!version)
    reader.failAt(key, "expected a version such as 0.11");
  return version;
}

static VersionRange readRange(const JsonReader &reader) {
  return {readVersion(reader, "since"), readVersion(reader, "until")};
}

/// A text, or an object with a name and versions.
static std::vector<Spelling> readSpellings(const JsonReader &reader,
                                           std::string_view key) {
  std::vector<Spelling> spellings;
  if (!reader.has(key))
    return spellings;
  for (const JsonReader &element : reader.array(key).elements()) {
    if (element.isString()) {
      spellings.push_back({element.asString()});
      continue;
    }
    element.allowOnly({"name", "since", "until", "command", "value"});
    Spelling spelling{element.string("name"), readRange(element)};
    spelling.command = element.optionalString("command").value_or("");
    if (element.has("value"))
      spelling.value = element.member("value").toJson();
    spellings.push_back(std::move(spelling));
  }
  return spellings;
}

static void readDefaults(const JsonReader &reader, Setting &setting) {
  if (!reader.has("default"))
    return;
  JsonReader value = reader.member("default");
  if (!value.isArray()) {
    setting.defaults.emplace_back(VersionRange(), value.toJson());
    return;
  }
  for (const JsonReader &element : value.elements()) {
    element.allowOnly({"since", "until", "value"});
    setting.defaults.emplace_back(readRange(element),
                                  element.member("value").toJson());
  }
}

static SettingType readType(const JsonReader &reader) {
  static constexpr std::pair<std::string_view, SettingType> types[] = {
      {"count", SettingType::count},   {"tokens", SettingType::tokens},
      {"number", SettingType::number}, {"text", SettingType::text},
      {"switch", SettingType::toggle}, {"counts", SettingType::counts},
      {"texts", SettingType::texts},   {"layout", SettingType::layout}};
  std::string word = reader.string("type");
  for (auto [name, type] : types)
    if (name == word)
      return type;
  if (!reader.failed())
    reader.failAt("type", "expected count, tokens, number, text, texts, "
                          "switch, counts or layout");
  return SettingType::text;
}

static ListForm readListForm(const JsonReader &reader) {
  std::string form = reader.optionalString("list").value_or("commas");
  return form == "json"     ? ListForm::json
         : form == "spaces" ? ListForm::spaces
                            : ListForm::commas;
}

static Setting readSetting(const std::string &name, const JsonReader &reader) {
  reader.allowOnly({"flags", "negations", "keys", "environment", "type",
                    "absent", "default", "note", "list", "null", "words",
                    "pattern"});
  Setting setting;
  setting.name = name;
  setting.type = readType(reader);
  setting.list = readListForm(reader);
  setting.nullIsOn = reader.booleanOr("null", false);
  setting.pattern = reader.optionalString("pattern").value_or("");
  if (reader.has("words"))
    for (const auto &[engine, plan] : reader.object("words").members())
      setting.words.emplace_back(engine, plan.asString());
  setting.flags = readSpellings(reader, "flags");
  setting.negations = readSpellings(reader, "negations");
  setting.keys = readSpellings(reader, "keys");
  setting.environment = reader.optionalString("environment").value_or("");
  if (reader.has("absent"))
    for (const JsonReader &element : reader.array("absent").elements())
      setting.absent.push_back(element.toJson());
  readDefaults(reader, setting);
  return setting;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static Expression readExpression(const JsonReader &reader) {
  Result<Expression> formula = Expression::parse(reader.asString());
  if (formula)
    return std::move(*formula);
  if (!reader.failed())
    reader.fail(formula.error().message, formula.error().note);
  return std::move(*Expression::parse("0"));
}

/// A text, or a list of texts by version.
static Formula readFormula(const JsonReader &reader) {
  Formula formula;
  if (!reader.isArray()) {
    formula.cases.emplace_back(VersionRange(), readExpression(reader));
    return formula;
  }
  for (const JsonReader &element : reader.elements()) {
    element.allowOnly({"since", "until", "value"});
    formula.cases.emplace_back(readRange(element),
                               readExpression(element.member("value")));
  }
  return formula;
}

static Formulas readFormulas(const JsonReader &reader, std::string_view key) {
  Formulas formulas;
  if (reader.has(key))
    for (const auto &[name, member] : reader.object(key).members())
      formulas.emplace(name, readFormula(member));
  return formulas;
}

static std::vector<std::string> optionalStrings(const JsonReader &reader,
                                                std::string_view key) {
  return reader.has(key) ? reader.strings(key) : std::vector<std::string>();
}

static std::vector<PlanRule> readRules(const JsonReader &reader,
                                       std::string_view key) {
  std::vector<PlanRule> rules;
  if (!reader.has(key))
    return rules;
  for (const JsonReader &element : reader.array(key).elements()) {
    element.allowOnly({"when", "because", "since", "until", "knobs"});
    rules.push_back({readExpression(element.member("when")),
                     element.string("because"), readRange(element),
                     optionalStrings(element, "knobs")});
  }
  return rules;
}

static OtherFlag readOtherFlag(const JsonReader &reader) {
  reader.allowOnly({"values", "since", "until", "command"});
  OtherFlag flag;
  flag.versions = readRange(reader);
  JsonReader values = reader.member("values");
  if (values.isString())
    flag.values = values.asString() == "+" ? OtherFlag::Values::many
                                           : OtherFlag::Values::optional;
  else if (values.asInteger(0, 1) == 0)
    flag.values = OtherFlag::Values::none;
  return flag;
}

static std::vector<std::vector<std::string>>
readCommands(const JsonReader &reader, std::string_view key) {
  std::vector<std::vector<std::string>> commands;
  if (!reader.has(key))
    return commands;
  for (const JsonReader &command : reader.array(key).elements()) {
    commands.emplace_back();
    for (const JsonReader &word : command.elements())
      commands.back().push_back(word.asString());
  }
  return commands;
}

static void readVersions(const JsonReader &reader, LaunchTable &table) {
  table.versions = reader.strings("versions");
  if (table.versions.empty() && !reader.failed())
    reader.failAt("versions", "expected at least one version");
  for (const std::string &version : table.versions)
    if (!parseVersion(version))
      reader.failAt("versions", "\"" + version + "\" is no version");
}

Result<LaunchTable>
autopar::launch::readLaunchTable(const JsonDocument &document) {
  JsonReader reader = document.reader();
  checkSchema(reader, "autopar.launch_table/1");
  reader.allowOnly({"schema",
                    "name",
                    "title",
                    "runtime",
                    "source",
                    "note",
                    "versions",
                    "images",
                    "commands",
                    "model",
                    "config_files",
                    "settings",
                    "derived",
                    "plan",
                    "write",
                    "refuse",
                    "differences",
                    "flags",
                    "launchers",
                    "read_only",
                    "assignments",
                    "replicas",
                    "positional_model",
                    "files",
                    "roots",
                    "arguments",
                    "variables",
                    "requests",
                    "over_nodes",
                    "client"});
  LaunchTable table;
  table.name = readName(reader);
  table.title = reader.string("title");
  table.runtime = reader.optionalString("runtime").value_or("");
  readVersions(reader, table);
  table.images = optionalStrings(reader, "images");
  table.commands = readCommands(reader, "commands");
  table.launchers = readCommands(reader, "launchers");
  table.overNodes = optionalStrings(reader, "over_nodes");
  table.isReadOnly = reader.booleanOr("read_only", false);
  table.hasPositionalModel = reader.booleanOr("positional_model", false);
  table.hasAssignments = reader.booleanOr("assignments", false);
  table.hasClient = reader.booleanOr("client", false);
  table.fileKeys = readCommands(reader, "files");
  table.roots = optionalStrings(reader, "roots");
  table.argumentKeys = optionalStrings(reader, "arguments");
  table.variableKeys = optionalStrings(reader, "variables");
  table.modelFlags = optionalStrings(reader, "model");
  table.configFlags = optionalStrings(reader, "config_files");
  for (const auto &[name, member] : reader.object("settings").members())
    table.settings.push_back(readSetting(name, member));
  table.derived = readFormulas(reader, "derived");
  table.plan = readFormulas(reader, "plan");
  table.write = readFormulas(reader, "write");
  table.requests = readFormulas(reader, "requests");
  if (reader.has("replicas"))
    table.replicas = readFormula(reader.member("replicas"));
  table.refusals = readRules(reader, "refuse");
  table.differences = readRules(reader, "differences");
  if (reader.has("flags"))
    for (const auto &[name, member] : reader.object("flags").members())
      table.otherFlags.emplace(name, readOtherFlag(member));
  if (reader.failed())
    return reader.takeError();
  return table;
}

std::vector<std::string> autopar::launch::launchTableNames() {
  return namesIn(dataDirectory("runtimes") + "/launch");
}

Result<LaunchTable> autopar::launch::loadLaunchTable(const std::string &name) {
  Result<std::string> path = locateFile(
      name, dataDirectory("runtimes") + "/launch", "engine or trainer");
  if (!path)
    return path.error();
  Result<JsonDocument> document = JsonDocument::readFile(*path);
  if (!document)
    return document.error();
  return readLaunchTable(*document);
}

Result<std::vector<LaunchTable>> autopar::launch::loadLaunchTables() {
  std::vector<LaunchTable> tables;
  for (const std::string &name : launchTableNames()) {
    Result<LaunchTable> table = loadLaunchTable(name);
    if (!table)
      return table.error();
    tables.push_back(std::move(*table));
  }
  return tables;
}
