//===- WriteCommand.cpp - Commands from settings --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueText.h"

#include "autopar/Launch/Layout.h"
#include "autopar/Launch/WriteLaunch.h"
#include "autopar/Launch/Yaml.h"
#include "autopar/Support/Shell.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;

namespace {

/// Writes the settings of one launch as a command.
class CommandWriter {
public:
  CommandWriter(const LaunchTable &table, const Launch &launch,
                const std::string &program)
      : table(table), launch(launch), program(program),
        version(*parseVersion(launch.tableVersion)) {}

  Result<LaunchCommand> write();

private:
  std::optional<Error> writeSetting(const Setting &setting,
                                    const JsonValue &value);
  bool writeKey(const Setting &setting, const JsonValue &value);
  bool writeFlag(const Setting &setting, const JsonValue &value);
  bool writeToggle(const Setting &setting, bool value);
  void writeValue(const Setting &setting, const std::string &flag,
                  const JsonValue &value);
  const std::string *spell(const std::vector<Spelling> &spellings) const;
  void addMembers();

  const LaunchTable &table;
  const Launch &launch;
  const std::string &program;
  Version version;
  LaunchCommand command;
  /// The words after each flag, by the flag.
  std::map<std::string, std::vector<std::string>> flags;
  /// The contents of the config file.
  nlohmann::ordered_json config;
  /// The JSON values of flags whose values have members.
  std::map<std::string, nlohmann::ordered_json> members;
};

} // namespace

/// Returns the first spelling that the version has; null if it has none.
const std::string *
CommandWriter::spell(const std::vector<Spelling> &spellings) const {
  for (const Spelling &spelling : spellings)
    if (spelling.versions.has(version) && spelling.command.empty())
      return &spelling.name;
  return nullptr;
}

static std::string wordOf(const JsonValue &value) {
  return value.is_number_float() ? formatNumber(value.get<double>())
                                 : textOf(value);
}

void CommandWriter::writeValue(const Setting &setting, const std::string &flag,
                               const JsonValue &value) {
  if (setting.type == SettingType::layout && value.is_array()) {
    flags[flag] = {layoutOfLayers(value.get<std::vector<int64_t>>())};
    return;
  }
  if (size_t dot = flag.find('.'); dot != std::string::npos) {
    nlohmann::ordered_json *member = &members[flag.substr(0, dot)];
    for (const std::string &key : wordsOf(flag.substr(dot + 1), "."))
      member = &(*member)[key];
    *member = value;
    return;
  }
  std::vector<std::string> &words = flags[flag];
  if (!value.is_array()) {
    words.push_back(wordOf(value));
    return;
  }
  for (const JsonValue &element : value)
    words.push_back(wordOf(element));
  if (setting.list == ListForm::commas)
    words = {join(words, ",")};
  else if (setting.list == ListForm::json)
    words = {value.dump()};
}

bool CommandWriter::writeToggle(const Setting &setting, bool value) {
  const std::string *flag = spell(setting.flags);
  if (value) {
    if (flag)
      flags[*flag] = {};
    return flag;
  }
  if (const std::string *negation = spell(setting.negations))
    return flags[*negation] = {}, true;
  if (flag)
    flags["--no-" + flag->substr(2)] = {};
  return flag;
}

/// Writes a setting into the config file. Returns false if the engine has no
/// config file or the setting has no key.
bool CommandWriter::writeKey(const Setting &setting, const JsonValue &value) {
  const std::string *key = spell(setting.keys);
  if (table.configFlags.empty() || !key)
    return false;
  nlohmann::ordered_json *member = &config;
  for (const std::string &part : wordsOf(*key, "."))
    member = &(*member)[part];
  bool isNull = setting.nullIsOn && value == true;
  *member = isNull ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  return true;
}

bool CommandWriter::writeFlag(const Setting &setting, const JsonValue &value) {
  if (setting.type == SettingType::toggle && value.is_boolean())
    return writeToggle(setting, value.get<bool>());
  const std::string *flag = spell(setting.flags);
  if (flag)
    writeValue(setting, *flag, value);
  return flag;
}

std::optional<Error> CommandWriter::writeSetting(const Setting &setting,
                                                 const JsonValue &value) {
  if (writeKey(setting, value) || writeFlag(setting, value))
    return std::nullopt;
  if (!setting.environment.empty()) {
    std::vector<std::string> words;
    for (const JsonValue &element :
         value.is_array() ? value : JsonValue::array({value}))
      words.push_back(wordOf(element));
    command.environment.emplace_back(setting.environment, join(words, ","));
    return std::nullopt;
  }
  return Error{"",
               table.title + " " + launch.tableVersion + " has no flag for " +
                   setting.name + " = " + value.dump(),
               ""};
}

void CommandWriter::addMembers() {
  for (auto &[flag, value] : members)
    flags[flag] = {value.dump()};
}

Result<LaunchCommand> CommandWriter::write() {
  for (const Setting &setting : table.settings)
    if (auto found = launch.settings.find(setting.name);
        found != launch.settings.end())
      if (std::optional<Error> error =
              writeSetting(setting, found->second.value))
        return *error;
  addMembers();
  auto entry = std::find_if(
      table.commands.begin(), table.commands.end(),
      [&](const auto &words) { return words.back().rfind(program, 0) == 0; });
  if (entry == table.commands.end())
    return Error{"", table.title + " has no command that is " + program + "*",
                 ""};
  command.words = *entry;
  bool isFirst = entry == table.commands.begin();
  if ((table.hasPositionalModel && isFirst) || table.modelFlags.empty())
    command.words.push_back(launch.model);
  else
    command.words.push_back(table.modelFlags.front() + "=" + launch.model);
  if (!config.is_null()) {
    command.config = {"config.yaml", writeYaml(config)};
    flags[table.configFlags.front()] = {command.config.path};
  }
  for (auto &[flag, words] : flags) {
    // A single value is written together with its flag:
    // `--tensor-parallel-size=8`.
    if (words.size() == 1) {
      command.words.push_back(flag + "=" + words.front());
      continue;
    }
    command.words.push_back(flag);
    command.words.insert(command.words.end(), words.begin(), words.end());
  }
  return std::move(command);
}

Result<LaunchCommand> autopar::launch::commandOf(const LaunchTable &table,
                                                 const Launch &launch,
                                                 const std::string &program) {
  return CommandWriter(table, launch, program).write();
}

std::string autopar::launch::shellText(const LaunchCommand &command) {
  std::string head;
  // The config file is written before the command, so that one script contains
  // both.
  if (!command.config.text.empty())
    head = "cat > " + command.config.path + " <<'END'\n" + command.config.text +
           "END\n";
  std::string variables;
  for (const auto &[name, value] : command.environment)
    variables += name + "=" + shellWord(value) + " ";
  // The width of lines, in characters, that fits a terminal.
  static constexpr size_t width = 88;
  return head + commandLines(variables, command.words, width);
}
