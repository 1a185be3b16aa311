//===- ConfigFile.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"

#include "Arguments.h"
#include "ValueText.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;

/// The value at a dotted path, and its JSON pointer; null if it is not there. A
/// key may have the dots in its name.
static const JsonValue *find(const JsonValue &root, const std::string &path,
                             std::string &pointer) {
  if (auto whole = root.find(path); whole != root.end()) {
    pointer += "/" + path;
    return &*whole;
  }
  const JsonValue *value = &root;
  for (const std::string &key : wordsOf(path, ".")) {
    if (!value->is_object() || !value->contains(key))
      return nullptr;
    value = &(*value)[key];
    pointer += "/" + key;
  }
  return value;
}

/// A key without a value, or with members of its own, switches on what says so.
static JsonValue valueOf(const Setting &setting, const JsonValue &value) {
  bool isOn = setting.nullIsOn && (value.is_null() || value.is_object());
  return isOn ? JsonValue(true) : value;
}

/// The mappings of a file that have keys: the file and its roots.
static std::vector<std::pair<const JsonValue *, std::string>>
mappingsOf(const LaunchTable &table, const JsonValue &file) {
  std::vector<std::pair<const JsonValue *, std::string>> mappings = {
      {&file, ""}};
  for (const std::string &root : table.roots)
    if (auto found = file.find(root); found != file.end() && found->is_object())
      mappings.emplace_back(&*found, "/" + root);
  return mappings;
}

/// Sets a setting from the first of its keys that the file has.
static void readKeys(const LaunchTable &table, const Setting &setting,
                     const YamlDocument &config, const std::string &path,
                     Launch &launch) {
  for (const Spelling &key : setting.keys)
    for (auto [mapping, pointer] : mappingsOf(table, config.value)) {
      const JsonValue *value = find(*mapping, key.name, pointer);
      // A mapping is no value, but where it switches something on.
      if (!value || (value->is_object() && !setting.nullIsOn))
        continue;
      return setValue(setting, valueOf(setting, *value),
                      path + ":" + std::to_string(config.lineOf(pointer)) +
                          ": " + key.name,
                      launch);
    }
}

/// The words of a flag with the value of a key.
static std::vector<ShellWord> flagOf(const std::string &key,
                                     const JsonValue &value, int64_t line) {
  std::string flag = key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  if (value.is_boolean())
    return {{(value.get<bool>() ? "--" : "--no-") + flag, line}};
  if (value.is_null())
    return {{"--" + flag, line}};
  return {{"--" + flag + "=" + flagText(value), line}};
}

/// Reads a mapping from flags to values: `--bf16: true`.
static void readFlags(const LaunchTable &table, const JsonValue &mapping,
                      const YamlDocument &config, const std::string &pointer,
                      const std::string &path, Launch &launch) {
  std::vector<std::vector<ShellWord>> lists;
  for (const auto &[flag, value] : mapping.items()) {
    int64_t line = config.lineOf(pointer + "/" + flag);
    std::vector<ShellWord> words = {{flag, line}};
    if (value == false)
      continue;
    if (value != true)
      words.front().text += "=" + textOf(value);
    lists.push_back(std::move(words));
  }
  readEachArguments(table, lists, path, launch);
}

static void readVariables(const LaunchTable &table, const JsonValue &mapping,
                          const YamlDocument &config,
                          const std::string &pointer, const std::string &path,
                          Launch &launch) {
  std::map<std::string, ShellWord> variables;
  for (const auto &[name, value] : mapping.items())
    variables[name] = {textOf(value), config.lineOf(pointer + "/" + name)};
  readEnvironment(table, variables, path, launch);
}

bool autopar::launch::isFileOf(const LaunchTable &table,
                               const YamlDocument &document) {
  const JsonValue &value = document.value;
  return value.is_object() &&
         std::any_of(table.fileKeys.begin(), table.fileKeys.end(),
                     [&](const std::vector<std::string> &keys) {
                       return std::all_of(keys.begin(), keys.end(),
                                          [&](const std::string &key) {
                                            return value.contains(key);
                                          });
                     });
}

/// Reads a file of a trainer, whose other keys change no estimate.
static void readFile(const LaunchTable &table, const YamlDocument &file,
                     const std::string &path, Launch &launch) {
  for (const Setting &setting : table.settings)
    readKeys(table, setting, file, path, launch);
  for (const std::string &key : table.modelFlags) {
    std::string pointer;
    const JsonValue *model = find(file.value, key, pointer);
    if (model && model->is_string() && launch.model.empty())
      launch.model = model->get<std::string>();
  }
  for (const std::string &key : table.argumentKeys)
    if (auto found = file.value.find(key);
        found != file.value.end() && found->is_object())
      readFlags(table, *found, file, "/" + key, path, launch);
  for (const std::string &key : table.variableKeys)
    if (auto found = file.value.find(key);
        found != file.value.end() && found->is_object())
      readVariables(table, *found, file, "/" + key, path, launch);
}

void autopar::launch::readConfig(const LaunchTable &table,
                                 const YamlDocument &config,
                                 const std::string &path, Launch &launch) {
  if (!config.value.is_object()) {
    launch.findings.push_back(path + ": expected keys and values");
    return;
  }
  if (table.hasFiles())
    return readFile(table, config, path, launch);
  Settings flags = launch.settings;
  std::set<std::string> known;
  for (const auto &[name, other] : table.otherFlags)
    if (name.rfind('-', 0) != 0)
      known.insert(name.substr(0, name.find('.')));
  for (const Setting &setting : table.settings) {
    for (const Spelling &key : setting.keys)
      known.insert(key.name.substr(0, key.name.find('.')));
    readKeys(table, setting, config, path, launch);
  }
  std::vector<std::vector<ShellWord>> lists;
  for (const auto &[key, value] : config.value.items())
    if (!known.count(key))
      lists.push_back(flagOf(key, value, config.lineOf("/" + key)));
  readEachArguments(table, lists, path, launch);
  for (const auto &[name, setting] : flags)
    if (auto read = launch.settings.find(name);
        read != launch.settings.end() &&
        read->second.from.rfind(path + ":", 0) == 0 &&
        table.setting(name)->keys.empty())
      read->second = setting;
}
