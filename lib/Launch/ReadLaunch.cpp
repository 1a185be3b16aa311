//===- ReadLaunch.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/ReadLaunch.h"

#include "Arguments.h"
#include "ConfigFile.h"
#include "Manifest.h"

#include "autopar/Launch/Toml.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::launch;

namespace {

/// The place of an engine's command in a list of words.
struct CommandMatch {
  const LaunchTable *table;
  /// The command's first word, and the first one behind it.
  size_t begin, end;
  /// As an image's tag states it; "" if nothing does.
  std::string version;
};

/// Reads all launches of a text.
class LaunchReader {
public:
  LaunchReader(const std::vector<LaunchTable> &tables, const std::string &name,
               const ReadOptions &options)
      : tables(tables), name(name), options(options), files(options.files) {}

  /// Reads a text as a manifest, or else as a script.
  std::optional<Error> read(const std::string &text);
  /// The launches, equal ones as copies of one; if all of them join others,
  /// those.
  Result<std::vector<Launch>> takeLaunches();

private:
  std::optional<Error>
  readScript(const std::string &text, int64_t firstLine,
             const std::map<std::string, ShellWord> &variables, unsigned depth);
  std::optional<Error> readUnit(const ManifestUnit &unit);
  std::optional<Error> readSettings(const YamlDocument &document);
  Launch begin(const LaunchTable &table, const std::string &version) const;
  void readLauncher(const CommandMatch &match, const ShellCommand &command,
                    Launch &launch) const;
  std::optional<CommandMatch> match(const std::vector<ShellWord> &words) const;
  std::optional<Error> readCommand(const ShellCommand &command, unsigned depth);
  std::optional<Error> readMatch(const CommandMatch &match,
                                 const ShellCommand &command);

  /// Makes the plan of a launch from its settings.
  std::optional<Error> planAgain(const LaunchTable &table,
                                 Launch &launch) const;
  std::optional<Error> addLaunch(const LaunchTable &table, Launch launch,
                                 int64_t line);
  std::optional<Error> readFile(const LaunchTable &table,
                                const std::string &path, Launch &launch) const;

  const std::vector<LaunchTable> &tables;
  const std::string &name;
  const ReadOptions &options;
  /// Config files by the last part of their paths.
  std::map<std::string, std::string> files;
  /// The unit of a manifest that is being read; null in a script.
  const ManifestUnit *unit = nullptr;
  /// The tag of the image whose script is being read; "" if there is none.
  std::string imageTag;
  std::vector<Launch> launches, followers;
};

} // namespace

/// Whether a word of a script is this word of a command: paths before a program
/// and the number of a Python are left out.
static bool isWord(const std::string &text, const std::string &wanted) {
  std::string base = text.substr(text.rfind('/') + 1);
  if (wanted == "python3")
    return base.rfind("python", 0) == 0;
  return base == wanted;
}

static bool isCommandAt(const std::vector<ShellWord> &words, size_t at,
                        const std::vector<std::string> &command) {
  if (command.size() > words.size() - at)
    return false;
  for (size_t i = 0; i < command.size(); ++i)
    if (!isWord(words[at + i].text, command[i]))
      return false;
  return true;
}

/// The tag of an image, if `text` is one with this name ("vllm/vllm-openai:v
/// {version}"); registries before the name are left out.
static std::optional<std::string> tagOf(const std::string &text,
                                        const std::string &image) {
  std::string repository = image.substr(0, image.find(':'));
  size_t at = text.find(repository);
  if (at == std::string::npos || (at > 0 && text[at - 1] != '/'))
    return std::nullopt;
  size_t colon = text.find(':', at + repository.size());
  return colon == std::string::npos ? "" : text.substr(colon + 1);
}

static bool isShellFlag(const ShellWord &word) {
  return word.text == "-c" || word.text == "-lc" || word.text == "-ec";
}

/// Finds the first command of any table; behind `docker run` an image stands
/// for its command.
std::optional<CommandMatch>
LaunchReader::match(const std::vector<ShellWord> &words) const {
  // An image with a shell behind it runs what the shell is told.
  auto lastShell = std::find_if(words.rbegin(), words.rend(), isShellFlag);
  size_t shellEnd = size_t(words.rend() - lastShell);
  for (size_t at = 0; at < words.size(); ++at)
    for (const LaunchTable &table : tables) {
      for (const std::vector<std::string> &command : table.commands)
        if (isCommandAt(words, at, command))
          return CommandMatch{&table, at, at + command.size(), ""};
      if (at < shellEnd)
        continue;
      for (const std::string &image : table.images)
        if (std::optional<std::string> tag = tagOf(words[at].text, image)) {
          CommandMatch found{&table, at, at + 1, *tag};
          for (const std::vector<std::string> &command : table.commands)
            if (isCommandAt(words, at + 1, command))
              found.end += command.size();
          return found;
        }
    }
  return std::nullopt;
}

/// Sets the devices that pods ask for where the launch does not say its own,
/// and says where both differ.
static void compareDevices(const ManifestUnit &unit, Launch &launch) {
  if (unit.nodes > 1)
    launch.settings["nodes"] = {unit.copies * unit.nodes, "the manifest"};
  if (auto dp = launch.settings.find("dp");
      dp != launch.settings.end() && dp->second.value.is_number_integer())
    dp->second.value = dp->second.value.get<int64_t>() * unit.copies;
  if (!unit.devicesPerNode)
    return;
  int64_t asked = *unit.devicesPerNode * unit.nodes;
  if (asked == launch.devices)
    return;
  launch.findings.push_back("pods ask for " + std::to_string(asked) +
                            " devices, the engine's flags use " +
                            std::to_string(launch.devices));
  launch.devices = std::max(asked, launch.devices);
}

static std::string fileName(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

/// Whether a text is a mapping, as manifests are.
static bool looksLikeManifest(const std::vector<YamlDocument> &documents) {
  return std::any_of(
      documents.begin(), documents.end(),
      [](const YamlDocument &one) { return one.value.is_object(); });
}

/// Reads YAML, or else TOML; an error is that of YAML.
static Result<std::vector<YamlDocument>>
readDocuments(const std::string &text, const std::string &name) {
  Result<std::vector<YamlDocument>> documents = readYaml(text, name);
  if (documents && looksLikeManifest(*documents))
    return documents;
  Result<YamlDocument> toml = readToml(text, name);
  if (toml && !toml->value.empty())
    return std::vector<YamlDocument>{std::move(*toml)};
  return documents;
}

/// Reads a config file that is among the given texts; nothing is opened.
std::optional<Error> LaunchReader::readFile(const LaunchTable &table,
                                            const std::string &path,
                                            Launch &launch) const {
  auto file = files.find(fileName(path));
  if (file == files.end()) {
    launch.findings.push_back(path + " has settings that are not in this text");
    return std::nullopt;
  }
  Result<std::vector<YamlDocument>> documents =
      readDocuments(file->second, path);
  if (!documents)
    return documents.error();
  for (const YamlDocument &document : *documents)
    readConfig(table, document, path, launch);
  return std::nullopt;
}

/// A launch of a table's engine; a version that is given goes before `version`.
Launch LaunchReader::begin(const LaunchTable &table,
                           const std::string &version) const {
  Launch launch;
  launch.engine = table.name;
  launch.version = options.version;
  std::string tag = version.empty() ? imageTag : version;
  if (launch.version.empty() && parseVersion(tag))
    launch.version = tag;
  launch.tableVersion = table.recordedVersion(parseVersion(launch.version));
  return launch;
}

/// Reads the flags of a launcher in front of the command (`torchrun
/// --nproc-per-node=8 train.py`); its other flags change no estimate.
void LaunchReader::readLauncher(const CommandMatch &match,
                                const ShellCommand &command,
                                Launch &launch) const {
  for (size_t at = 0; at < match.begin; ++at)
    for (const std::vector<std::string> &launcher : match.table->launchers) {
      if (!isCommandAt(command.words, at, launcher))
        continue;
      size_t unknown = launch.unknown.size();
      readArguments(*match.table,
                    {command.words.begin() + at + launcher.size(),
                     command.words.begin() + match.begin},
                    name, launch);
      launch.unknown.resize(unknown);
      return;
    }
}

std::optional<Error> LaunchReader::readMatch(const CommandMatch &match,
                                             const ShellCommand &command) {
  const LaunchTable &table = *match.table;
  Launch launch = begin(table, match.version);
  readLauncher(match, command, launch);
  std::vector<ShellWord> words(command.words.begin() + match.end,
                               command.words.end());
  readEnvironment(table, command.environment, name, launch);
  for (const std::string &config : readArguments(table, words, name, launch))
    if (std::optional<Error> error = readFile(table, config, launch))
      return error;
  return addLaunch(table, std::move(launch), command.words.front().line);
}

/// Whether a launch only joins another one: a worker of a further node.
static bool isFollower(const Launch &launch) {
  auto found = launch.settings.find("follower");
  return found != launch.settings.end() && found->second.value == true;
}

std::optional<Error> LaunchReader::planAgain(const LaunchTable &table,
                                             Launch &launch) const {
  ModelFacts facts;
  if (options.findModel)
    facts = options.findModel(launch.model);
  launch.plan = {};
  return planLaunch(table, facts, launch);
}

std::optional<Error> LaunchReader::addLaunch(const LaunchTable &table,
                                             Launch launch, int64_t line) {
  if (unit) {
    launch.role = unit->role;
    launch.copies = unit->copies;
    if (launch.model.empty())
      launch.model = unit->model;
    for (const auto &[setting, value] : unit->settings)
      if (const Setting *known = table.setting(setting);
          known && !launch.settings.count(setting))
        setValue(*known, value.value, value.from, launch);
  }
  if (std::optional<Error> error = planAgain(table, launch))
    return Error{name + ":" + std::to_string(line), error->message,
                 error->note};
  if (unit)
    compareDevices(*unit, launch);
  if (!isFollower(launch) || unit)
    launches.push_back(std::move(launch));
  else
    followers.push_back(std::move(launch));
  return std::nullopt;
}

/// Reads the first container of a unit that starts an engine; without one, the
/// unit's own settings start its engine.
std::optional<Error> LaunchReader::readUnit(const ManifestUnit &one) {
  unit = &one;
  size_t before = launches.size();
  for (const ShellCommand &command : one.commands) {
    if (std::optional<Error> error = readCommand(command, 0))
      return error;
    if (launches.size() > before)
      break;
  }
  std::optional<Error> error;
  if (launches.size() == before && !one.engine.empty())
    for (const LaunchTable &table : tables)
      if (table.name == one.engine) {
        ShellCommand own;
        own.words = {{one.model}};
        if (!one.commands.empty())
          own.environment = one.commands.front().environment;
        error = readMatch({&table, 0, 0, ""}, own);
      }
  // What a unit starts on its nodes is one launch.
  if (launches.size() > before + 1)
    launches.resize(before + 1);
  unit = nullptr;
  return error;
}

/// Reads a document as the file of settings of a trainer.
std::optional<Error> LaunchReader::readSettings(const YamlDocument &document) {
  for (const LaunchTable &table : tables) {
    if (!isFileOf(table, document))
      continue;
    Launch launch = begin(table, "");
    readConfig(table, document, name, launch);
    return addLaunch(table, std::move(launch), 1);
  }
  return std::nullopt;
}

std::optional<Error> LaunchReader::read(const std::string &text) {
  Result<std::vector<YamlDocument>> documents = readDocuments(text, name);
  if (documents && looksLikeManifest(*documents)) {
    Result<JsonDocument> forms = loadManifestForms();
    if (!forms)
      return forms.error();
    for (const YamlDocument &document : *documents) {
      Result<std::vector<ManifestUnit>> units = unitsOf(*forms, document, name);
      if (!units)
        return units.error();
      for (const ManifestUnit &one : *units)
        if (std::optional<Error> error = readUnit(one))
          return error;
      if (launches.empty())
        if (std::optional<Error> error = readSettings(document))
          return error;
    }
    if (!launches.empty())
      return std::nullopt;
  }
  return readScript(text, 1, {}, 0);
}

/// Reads a command, or the scripts in its words (`bash -c '...'`).
std::optional<Error> LaunchReader::readCommand(const ShellCommand &command,
                                               unsigned depth) {
  if (std::optional<CommandMatch> found = match(command.words))
    return readMatch(*found, command);
  for (const ShellWord &word : command.words)
    for (const LaunchTable &table : tables)
      for (const std::string &image : table.images)
        if (std::optional<std::string> tag = tagOf(word.text, image))
          imageTag = *tag;
  for (size_t i = 1; i < command.words.size(); ++i)
    if (isShellFlag(command.words[i - 1]))
      if (std::optional<Error> error =
              readScript(command.words[i].text, command.words[i].line,
                         command.environment, depth + 1))
        return error;
  imageTag.clear();
  return std::nullopt;
}

std::optional<Error>
LaunchReader::readScript(const std::string &text, int64_t firstLine,
                         const std::map<std::string, ShellWord> &variables,
                         unsigned depth) {
  if (depth > limits::maxNestedScripts)
    return std::nullopt;
  Result<ShellScript> script = readShell(text, name, variables);
  if (!script)
    return script.error();
  for (auto &[path, file] : script->files)
    files[fileName(path)] = std::move(file.text);
  for (ShellCommand &command : script->commands) {
    for (ShellWord &word : command.words)
      word.line += firstLine - 1;
    if (std::optional<Error> error = readCommand(command, depth))
      return error;
  }
  return std::nullopt;
}

/// Whether two commands start the same engine with the same settings.
static bool areCopies(const Launch &first, const Launch &second) {
  if (std::tie(first.engine, first.version, first.model, first.role,
               first.devices) != std::tie(second.engine, second.version,
                                          second.model, second.role,
                                          second.devices) ||
      first.settings.size() != second.settings.size())
    return false;
  return std::equal(first.settings.begin(), first.settings.end(),
                    second.settings.begin(),
                    [](const auto &one, const auto &other) {
                      return one.first == other.first &&
                             one.second.value == other.second.value;
                    });
}

Result<std::vector<Launch>> LaunchReader::takeLaunches() {
  std::vector<Launch> all;
  std::vector<int64_t> counts;
  for (Launch &launch : launches.empty() ? followers : launches) {
    auto copy = std::find_if(all.begin(), all.end(), [&](const Launch &one) {
      return areCopies(one, launch);
    });
    if (copy != all.end()) {
      ++counts[size_t(copy - all.begin())];
      continue;
    }
    all.push_back(std::move(launch));
    counts.push_back(1);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (counts[i] == 1)
      continue;
    all[i].copies *= counts[i];
    for (const LaunchTable &table : tables)
      if (table.name == all[i].engine)
        if (std::optional<Error> error = planAgain(table, all[i]))
          return *error;
  }
  return all;
}

static Error noLaunch(const std::vector<LaunchTable> &tables,
                      const std::string &name) {
  std::vector<std::string> commands;
  for (const LaunchTable &table : tables)
    if (!table.commands.empty())
      commands.push_back(join(table.commands.front(), " "));
  return {name, "there is no launch in this text",
          "commands that are known: " + join(commands, ", ")};
}

Result<std::vector<Launch>>
autopar::launch::readLaunches(const std::vector<LaunchTable> &tables,
                              const std::string &text, const std::string &name,
                              const ReadOptions &options) {
  for (const auto &[path, file] : options.files)
    if (!isUtf8(file))
      return Error{path, "the text is not UTF-8", ""};
  if (!isUtf8(text))
    return Error{name, "the text is not UTF-8", ""};
  if (text.size() > limits::maxLaunchBytes)
    return Error{name,
                 "the text has " + formatBytes(int64_t(text.size())) +
                     ", more than " +
                     formatBytes(int64_t(limits::maxLaunchBytes)),
                 ""};
  LaunchReader reader(tables, name, options);
  if (std::optional<Error> error = reader.read(text))
    return *error;
  Result<std::vector<Launch>> launches = reader.takeLaunches();
  if (launches && launches->empty())
    return noLaunch(tables, name);
  return launches;
}
