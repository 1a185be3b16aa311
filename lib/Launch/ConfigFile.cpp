//===- ConfigFile.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"

#include "Arguments.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <set>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;

/// The value at a dotted path, and its JSON pointer; null if it is not there.
static const JsonValue *find(const JsonValue &root, const std::string &path,
                             std::string &pointer) {
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

static void readKeys(const LaunchTable &table, const YamlDocument &config,
                     const std::string &path, Launch &launch,
                     std::set<std::string> &known) {
  for (const Setting &setting : table.settings)
    for (const Spelling &key : setting.keys) {
      known.insert(key.name.substr(0, key.name.find('.')));
      std::string pointer;
      const JsonValue *value = find(config.value, key.name, pointer);
      if (!value)
        continue;
      setValue(setting, valueOf(setting, *value),
               path + ":" + std::to_string(config.lineOf(pointer)) + ": " +
                   key.name,
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
  std::string text;
  if (value.is_string()) {
    text = value.get<std::string>();
  } else if (value.is_array()) {
    std::vector<std::string> words;
    for (const JsonValue &element : value)
      words.push_back(element.is_string() ? element.get<std::string>()
                                          : element.dump());
    text = join(words, ",");
  } else {
    text = value.dump();
  }
  return {{"--" + flag + "=" + text, line}};
}

void autopar::launch::readConfig(const LaunchTable &table,
                                 const YamlDocument &config,
                                 const std::string &path, Launch &launch) {
  if (!config.value.is_object()) {
    launch.findings.push_back(path + ": expected keys and values");
    return;
  }
  Settings flags = launch.settings;
  std::set<std::string> known;
  for (const auto &[name, other] : table.otherFlags)
    if (name.rfind('-', 0) != 0)
      known.insert(name.substr(0, name.find('.')));
  readKeys(table, config, path, launch, known);
  for (const auto &[key, value] : config.value.items()) {
    if (known.count(key))
      continue;
    std::vector<ShellWord> words = flagOf(key, value, config.lineOf("/" + key));
    readArguments(table, words, path, launch);
    for (const auto &[name, setting] : flags)
      if (launch.settings[name].from.rfind(path + ":", 0) == 0 &&
          table.setting(name)->keys.empty())
        launch.settings[name] = setting;
  }
}
