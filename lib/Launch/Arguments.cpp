//===- Arguments.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "ValueText.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <nlohmann/json.hpp>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Error expected(std::string_view what, const std::string &text) {
  return Error{
      "", "expected " + std::string(what) + ", found \"" + shorten(text) + "\"",
      ""};
}

/// JSON may write a count as 5e8.
static Result<JsonValue> convertCount(const std::string &text) {
  int64_t count = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc() && rest == end)
    return JsonValue(count);
  char *stop = nullptr;
  double number = std::strtod(text.c_str(), &stop);
  static constexpr double largest = 1e15;
  if (text.empty() || *stop || !(std::fabs(number) <= largest) ||
      number != std::floor(number))
    return expected("a whole number", text);
  return JsonValue(int64_t(number));
}

/// 32k is 32,000 and 32K is 32,768, as vLLM and SGLang read them.
static Result<JsonValue> convertTokens(const std::string &text) {
  static constexpr std::pair<char, double> factors[] = {
      {'k', 1e3},     {'m', 1e6},     {'g', 1e9},
      {'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}};
  for (auto [letter, factor] : factors)
    if (!text.empty() && text.back() == letter) {
      char *end = nullptr;
      double count = std::strtod(text.c_str(), &end);
      bool isWhole = end == text.c_str() + text.size() - 1;
      if (!isWhole || !(count > 0) || count * factor > 1e15)
        return expected("a number of tokens", text);
      return JsonValue(int64_t(count * factor));
    }
  return convertCount(text);
}

static Result<JsonValue> convertNumber(const std::string &text) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || number != number)
    return expected("a number", text);
  return JsonValue(number);
}

static Result<JsonValue> convertToggle(const std::string &text) {
  std::string word = lower(text);
  if (word == "true" || word == "1" || word == "yes" || word == "on")
    return JsonValue(true);
  if (word == "false" || word == "0" || word == "no" || word == "off")
    return JsonValue(false);
  return expected("true or false", text);
}

static Result<JsonValue> convertCounts(const std::string &text) {
  JsonValue counts = JsonValue::array();
  for (const std::string &word : wordsOf(text, ", []")) {
    Result<JsonValue> count = convertCount(word);
    if (!count)
      return count;
    counts.push_back(std::move(*count));
  }
  return counts;
}

Result<JsonValue> autopar::launch::convert(const Setting &setting,
                                           const std::string &text) {
  switch (setting.type) {
  case SettingType::count:
    return convertCount(text);
  case SettingType::tokens:
    return convertTokens(text);
  case SettingType::number:
    return convertNumber(text);
  case SettingType::toggle:
    return convertToggle(text);
  case SettingType::counts:
    return convertCounts(text);
  case SettingType::texts:
    return JsonValue(wordsOf(text, ", []\"'"));
  case SettingType::text:
  case SettingType::layout:
    break;
  }
  return JsonValue(text);
}

static bool isAbsent(const Setting &setting, const JsonValue &value) {
  return value.is_null() ||
         std::find(setting.absent.begin(), setting.absent.end(), value) !=
             setting.absent.end();
}

/// The part of `text` that the setting's pattern takes; nothing if it does not
/// occur.
static std::optional<std::string> matched(const Setting &setting,
                                          const std::string &text) {
  if (setting.pattern.empty())
    return text;
  std::string value;
  if (!RE2::PartialMatch(text, setting.pattern, &value))
    return std::nullopt;
  return value;
}

void autopar::launch::setValue(const Setting &setting, const JsonValue &value,
                               const std::string &from, Launch &launch) {
  launch.settings.erase(setting.name);
  if (isAbsent(setting, value))
    return;
  std::optional<std::string> text = matched(setting, textOf(value));
  if (!text)
    return;
  Result<JsonValue> converted = convert(setting, *text);
  if (!converted) {
    launch.findings.push_back(from + ": " + converted.error().message);
    return;
  }
  if (!isAbsent(setting, *converted))
    launch.settings[setting.name] = {std::move(*converted), from};
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// Dashes for underscores, up to the first dot; no `+` at the end.
static std::string plainFlag(std::string_view flag) {
  std::string plain(flag);
  size_t end = std::min(plain.find('.'), plain.size());
  std::replace(plain.begin(), plain.begin() + end, '_', '-');
  if (!plain.empty() && plain.back() == '+')
    plain.pop_back();
  return plain;
}

/// The flag before the dot of `--flag.member`; all of it if there is no dot.
static std::string containerOf(const std::string &flag) {
  return flag.substr(0, flag.find('.'));
}

static bool isFlag(const std::string &word) {
  return word.size() > 1 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])));
}

namespace {

/// What a flag means.
struct Meaning {
  enum class Kind : uint8_t {
    setting,
    negation,
    members,
    model,
    config,
    other
  };
  Kind kind = Kind::other;
  const Setting *setting = nullptr;
  OtherFlag::Values values = OtherFlag::Values::one;
  VersionRange versions;
  /// What a flag without a value sets; may be null.
  const JsonValue *value = nullptr;
};

/// Reads lists of words, each of one command.
class ArgumentReader {
public:
  ArgumentReader(const LaunchTable &table, const std::string &script,
                 Launch &launch)
      : table(table), script(script), launch(launch),
        around(table.versionsAround(
            parseVersion(launch.version)
                .value_or(*parseVersion(launch.tableVersion)))) {
    addMeanings();
  }

  /// Returns the paths of config files.
  std::vector<std::string> read(const std::vector<ShellWord> &list);

private:
  void add(const std::string &flag, Meaning meaning) {
    meanings.emplace(plainFlag(flag), meaning);
  }
  void addMeanings();
  void addSettings(const Setting &setting);
  const Meaning *find(const std::string &flag);
  const Meaning *findAbbreviation(const std::string &flag) const;
  void readFlag(const ShellWord &word);
  bool readAssignment(const ShellWord &word);
  void readPositional(const ShellWord &word);
  void readUnknown(const std::string &flag, bool hasValue);
  void readMeaning(const Meaning &meaning, const std::string &flag,
                   std::optional<ShellWord> value, const std::string &from);
  void readMembers(const std::string &flag, const ShellWord &value,
                   const std::string &from);
  std::optional<ShellWord> takeValue(const Meaning &meaning);
  bool isResolved(const std::string &from, const ShellWord &value);
  void checkVersion(const Meaning &meaning, const std::string &flag);

  const LaunchTable &table;
  const std::string &script;
  Launch &launch;
  /// The recorded versions that the stated one is between.
  std::vector<Version> around;
  std::map<std::string, Meaning> meanings;
  std::vector<std::string> configs;
  /// The words that are being read, and the next one of them.
  std::vector<ShellWord> words;
  size_t at = 0;
  /// Whether the words are behind the name of a client's script.
  bool isOfClient = false;
};

} // namespace

void ArgumentReader::addSettings(const Setting &setting) {
  bool isToggle = setting.type == SettingType::toggle;
  for (const Spelling &flag : setting.flags) {
    OtherFlag::Values values = isToggle ? OtherFlag::Values::none
                               : setting.type == SettingType::counts ||
                                       setting.type == SettingType::texts
                                   ? OtherFlag::Values::many
                                   : OtherFlag::Values::one;
    add(flag.name, {Meaning::Kind::setting, &setting, values, flag.versions});
    if (isToggle && flag.name.rfind("--", 0) == 0)
      add("--no-" + flag.name.substr(2),
          {Meaning::Kind::negation, &setting, OtherFlag::Values::none,
           flag.versions});
    if (std::string container = containerOf(flag.name); container != flag.name)
      add(container, {Meaning::Kind::members, nullptr, OtherFlag::Values::one,
                      flag.versions});
  }
  for (const Spelling &flag : setting.negations)
    add(flag.name, {Meaning::Kind::negation, &setting, OtherFlag::Values::none,
                    flag.versions});
}

void ArgumentReader::addMeanings() {
  for (const std::string &flag : table.modelFlags)
    add(flag, {Meaning::Kind::model, nullptr, OtherFlag::Values::one, {}});
  for (const std::string &flag : table.configFlags)
    add(flag, {Meaning::Kind::config, nullptr, OtherFlag::Values::one, {}});
  for (const Setting &setting : table.settings)
    addSettings(setting);
  for (const auto &[flag, other] : table.otherFlags) {
    add(flag, {Meaning::Kind::other, nullptr, other.values, other.versions});
    if (other.values == OtherFlag::Values::none && flag.rfind("--", 0) == 0)
      add("--no-" + flag.substr(2), {Meaning::Kind::other, nullptr,
                                     OtherFlag::Values::none, other.versions});
  }
}

/// argparse accepts each prefix that belongs to one flag.
const Meaning *ArgumentReader::findAbbreviation(const std::string &flag) const {
  if (flag.size() < 4 || flag.rfind("--", 0) != 0)
    return nullptr;
  const Meaning *found = nullptr;
  for (auto one = meanings.lower_bound(flag);
       one != meanings.end() && one->first.rfind(flag, 0) == 0; ++one) {
    if (one->first.find('.') != std::string::npos)
      continue;
    if (found && found->setting != one->second.setting)
      return nullptr;
    found = &one->second;
  }
  return found;
}

const Meaning *ArgumentReader::find(const std::string &flag) {
  if (auto exact = meanings.find(flag); exact != meanings.end())
    return &exact->second;
  // A member of a JSON value that no setting names changes no estimate.
  if (std::string container = containerOf(flag); container != flag)
    if (meanings.count(container)) {
      static const Meaning member = {
          Meaning::Kind::other, nullptr, OtherFlag::Values::one, {}};
      return &member;
    }
  return findAbbreviation(flag);
}

void ArgumentReader::checkVersion(const Meaning &meaning,
                                  const std::string &flag) {
  for (const Version &version : around)
    if (meaning.versions.has(version))
      return;
  auto show = [](const Version &one) {
    std::vector<std::string> numbers;
    for (int64_t number : one)
      numbers.push_back(std::to_string(number));
    return join(numbers, ".");
  };
  std::string text =
      table.title + " " + launch.tableVersion + " has no " + flag;
  if (meaning.versions.until)
    text += ": the last version with it is " + show(*meaning.versions.until);
  else if (meaning.versions.since)
    text += ": the first version with it is " + show(*meaning.versions.since);
  if (launch.version.empty())
    text += " (no version is stated)";
  launch.findings.push_back(std::move(text));
}

std::optional<ShellWord> ArgumentReader::takeValue(const Meaning &meaning) {
  if (at >= words.size())
    return std::nullopt;
  if (meaning.values == OtherFlag::Values::none) {
    // A toggle may say its value: `--flag true`.
    std::string next = lower(words[at].text);
    if (!meaning.setting || (next != "true" && next != "false"))
      return std::nullopt;
    return words[at++];
  }
  if (meaning.values == OtherFlag::Values::optional && isFlag(words[at].text))
    return std::nullopt;
  ShellWord value = words[at++];
  if (meaning.values == OtherFlag::Values::many)
    while (at < words.size() && !isFlag(words[at].text))
      value.text += " " + words[at++].text;
  return value;
}

/// Whether the value is in the text.
bool ArgumentReader::isResolved(const std::string &from,
                                const ShellWord &value) {
  std::string missing = value.unknown.empty() ? "" : value.unknown.front();
  if (missing.empty() && value.text.find("{{") != std::string::npos)
    missing = value.text;
  if (missing.empty() && value.text.size() > 2 && value.text.front() == '<' &&
      value.text.back() == '>')
    missing = value.text;
  if (missing.empty())
    return true;
  launch.findings.push_back(from + ": " + shorten(missing) +
                            " has no value in this text");
  return false;
}

/// Reads the members of a JSON value that settings name.
void ArgumentReader::readMembers(const std::string &flag,
                                 const ShellWord &value,
                                 const std::string &from) {
  Result<JsonDocument> document = JsonDocument::parse(value.text, from);
  if (!document) {
    if (isResolved(from, value))
      launch.findings.push_back(from + ": is not JSON");
    return;
  }
  JsonValue root = document->toJson();
  for (const Setting &setting : table.settings)
    for (const Spelling &spelling : setting.flags) {
      std::string plain = plainFlag(spelling.name);
      if (containerOf(plain) != flag || plain == flag)
        continue;
      const JsonValue *member = &root;
      for (const std::string &key :
           wordsOf(spelling.name.substr(flag.size() + 1), "."))
        member = member && member->is_object() && member->contains(key)
                     ? &(*member)[key]
                     : nullptr;
      if (member)
        setValue(setting, *member, from, launch);
    }
}

void ArgumentReader::readMeaning(const Meaning &meaning,
                                 const std::string &flag,
                                 std::optional<ShellWord> value,
                                 const std::string &from) {
  if (!value && (meaning.values == OtherFlag::Values::one ||
                 meaning.values == OtherFlag::Values::many)) {
    launch.findings.push_back(from + ": has no value");
    return;
  }
  switch (meaning.kind) {
  case Meaning::Kind::other:
    return;
  case Meaning::Kind::model:
    if (isResolved(from, *value))
      launch.model = value->text;
    return;
  case Meaning::Kind::config:
    configs.push_back(value->text);
    return;
  case Meaning::Kind::members:
    return readMembers(flag, *value, from);
  case Meaning::Kind::negation:
    launch.settings[meaning.setting->name] = {JsonValue(false), from};
    return;
  case Meaning::Kind::setting:
    break;
  }
  if (!value && meaning.value && !meaning.value->is_null())
    setValue(*meaning.setting, *meaning.value, from, launch);
  else if (!value)
    launch.settings[meaning.setting->name] = {JsonValue(true), from};
  else if (isResolved(from, *value))
    setValue(*meaning.setting, JsonValue(value->text), from, launch);
}

void ArgumentReader::readUnknown(const std::string &flag, bool hasValue) {
  if (!isOfClient)
    launch.unknown.push_back(flag);
  if (!hasValue && at < words.size() && !isFlag(words[at].text))
    ++at;
}

void ArgumentReader::readFlag(const ShellWord &word) {
  size_t equals = word.text.find('=');
  std::string given = word.text.substr(0, equals);
  std::string flag = plainFlag(given);
  std::optional<ShellWord> value;
  if (equals != std::string::npos) {
    value = word;
    value->text.erase(0, equals + 1);
  }
  const Meaning *meaning = find(flag);
  if (!meaning)
    return readUnknown(given, value.has_value());
  checkVersion(*meaning, given);
  if (!value)
    value = takeValue(*meaning);
  readMeaning(*meaning, flag, std::move(value),
              script + ":" + std::to_string(word.line) + ": " + given);
}

/// Reads a word `key=value`.
bool ArgumentReader::readAssignment(const ShellWord &word) {
  size_t equals = word.text.find('=');
  if (!table.hasAssignments || equals == std::string::npos)
    return false;
  std::string key = word.text.substr(0, equals);
  // Hydra adds and replaces keys by + in front.
  key.erase(0, std::min(key.find_first_not_of('+'), key.size()));
  ShellWord value = word;
  value.text.erase(0, equals + 1);
  std::string from = script + ":" + std::to_string(word.line) + ": " + key;
  for (const std::string &model : table.modelFlags)
    if (key == model && isResolved(from, value))
      launch.model = value.text;
  for (const Setting &setting : table.settings)
    for (const Spelling &spelling : setting.keys)
      if (spelling.name == key && isResolved(from, value))
        setValue(setting, JsonValue(value.text), from, launch);
  return true;
}

static bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Of an engine the model; of a trainer a file of settings, or the script of
/// the client.
void ArgumentReader::readPositional(const ShellWord &word) {
  if (table.hasFiles()) {
    for (std::string_view end : {".yaml", ".yml", ".json", ".toml"})
      if (endsWith(word.text, end) && !isOfClient)
        configs.push_back(word.text);
    isOfClient |= table.hasClient;
    return;
  }
  std::string from = script + ":" + std::to_string(word.line) + ": model";
  if (launch.model.empty() && isResolved(from, word))
    launch.model = word.text;
}

std::vector<std::string>
ArgumentReader::read(const std::vector<ShellWord> &list) {
  words = list;
  at = 0;
  isOfClient = false;
  configs.clear();
  while (at < words.size()) {
    const ShellWord &word = words[at++];
    if (isFlag(word.text))
      readFlag(word);
    else if (!readAssignment(word))
      readPositional(word);
  }
  return std::move(configs);
}

std::vector<std::string>
autopar::launch::readArguments(const LaunchTable &table,
                               const std::vector<ShellWord> &words,
                               const std::string &script, Launch &launch) {
  return ArgumentReader(table, script, launch).read(words);
}

void autopar::launch::readEachArguments(
    const LaunchTable &table, const std::vector<std::vector<ShellWord>> &lists,
    const std::string &script, Launch &launch) {
  ArgumentReader reader(table, script, launch);
  for (const std::vector<ShellWord> &words : lists)
    (void)reader.read(words);
}

void autopar::launch::readEnvironment(
    const LaunchTable &table,
    const std::map<std::string, ShellWord> &environment,
    const std::string &script, Launch &launch) {
  for (const Setting &setting : table.settings) {
    auto found = environment.find(setting.environment);
    if (setting.environment.empty() || found == environment.end())
      continue;
    const ShellWord &word = found->second;
    std::string from =
        script + ":" + std::to_string(word.line) + ": " + setting.environment;
    if (word.unknown.empty())
      setValue(setting, JsonValue(word.text), from, launch);
    else
      launch.findings.push_back(from + ": " + word.unknown.front() +
                                " has no value in this text");
  }
}
