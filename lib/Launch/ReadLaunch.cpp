//===- ReadLaunch.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/ReadLaunch.h"

#include "Arguments.h"
#include "ConfigFile.h"

#include "autopar/Launch/LaunchLimits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::launch;

namespace {

/// The place of an engine's command in a list of words.
struct CommandMatch {
  const LaunchTable *table;
  /// The first word behind the command.
  size_t end;
  /// As an image's tag states it; "" if nothing does.
  std::string version;
};

/// Reads all launches of a text.
class LaunchReader {
public:
  LaunchReader(const std::vector<LaunchTable> &tables, const std::string &name,
               const ReadOptions &options)
      : tables(tables), name(name), options(options), files(options.files) {}

  std::optional<Error> readScript(const std::string &text, int64_t firstLine,
                                  unsigned depth);
  std::vector<Launch> takeLaunches() { return std::move(launches); }

private:
  std::optional<CommandMatch> match(const std::vector<ShellWord> &words) const;
  std::optional<Error> readCommand(const ShellCommand &command, unsigned depth);
  std::optional<Error> readMatch(const CommandMatch &match,
                                 const ShellCommand &command);

  std::optional<Error> readFile(const LaunchTable &table,
                                const std::string &path, Launch &launch) const;

  const std::vector<LaunchTable> &tables;
  const std::string &name;
  const ReadOptions &options;
  /// Config files by the last part of their paths.
  std::map<std::string, std::string> files;
  std::vector<Launch> launches;
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

/// Finds the first command of any table; behind `docker run` an image stands
/// for its command.
std::optional<CommandMatch>
LaunchReader::match(const std::vector<ShellWord> &words) const {
  for (size_t at = 0; at < words.size(); ++at)
    for (const LaunchTable &table : tables) {
      for (const std::vector<std::string> &command : table.commands)
        if (isCommandAt(words, at, command))
          return CommandMatch{&table, at + command.size(), ""};
      for (const std::string &image : table.images)
        if (std::optional<std::string> tag = tagOf(words[at].text, image)) {
          CommandMatch found{&table, at + 1, *tag};
          for (const std::vector<std::string> &command : table.commands)
            if (isCommandAt(words, at + 1, command))
              found.end += command.size();
          return found;
        }
    }
  return std::nullopt;
}

static std::string fileName(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
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
  Result<std::vector<YamlDocument>> documents = readYaml(file->second, path);
  if (!documents)
    return documents.error();
  for (const YamlDocument &document : *documents)
    readConfig(table, document, path, launch);
  return std::nullopt;
}

std::optional<Error> LaunchReader::readMatch(const CommandMatch &match,
                                             const ShellCommand &command) {
  const LaunchTable &table = *match.table;
  Launch launch;
  launch.engine = table.name;
  launch.version = options.version;
  if (launch.version.empty() && parseVersion(match.version))
    launch.version = match.version;
  launch.tableVersion = table.recordedVersion(parseVersion(launch.version));
  std::vector<ShellWord> words(command.words.begin() + match.end,
                               command.words.end());
  readEnvironment(table, command.environment, name, launch);
  for (const std::string &config : readArguments(table, words, name, launch))
    if (std::optional<Error> error = readFile(table, config, launch))
      return error;
  ModelFacts facts;
  if (options.findModel && !launch.model.empty())
    facts = options.findModel(launch.model);
  if (std::optional<Error> error = planLaunch(table, facts, launch))
    return Error{name + ":" + std::to_string(command.words.front().line),
                 error->message, error->note};
  launches.push_back(std::move(launch));
  return std::nullopt;
}

/// Reads a command, or the scripts in its words (`bash -c '...'`).
std::optional<Error> LaunchReader::readCommand(const ShellCommand &command,
                                               unsigned depth) {
  if (std::optional<CommandMatch> found = match(command.words))
    return readMatch(*found, command);
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string &flag = command.words[i - 1].text;
    if (flag == "-c" || flag == "-lc" || flag == "-ec")
      if (std::optional<Error> error = readScript(
              command.words[i].text, command.words[i].line, depth + 1))
        return error;
  }
  return std::nullopt;
}

std::optional<Error> LaunchReader::readScript(const std::string &text,
                                              int64_t firstLine,
                                              unsigned depth) {
  if (depth > limits::maxNestedScripts)
    return std::nullopt;
  Result<ShellScript> script = readShell(text, name);
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

static Result<std::vector<LaunchTable>> loadTables() {
  std::vector<LaunchTable> tables;
  for (const std::string &name : launchTableNames()) {
    Result<LaunchTable> table = loadLaunchTable(name);
    if (!table)
      return table.error();
    tables.push_back(std::move(*table));
  }
  return tables;
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
autopar::launch::readLaunches(const std::string &text, const std::string &name,
                              const ReadOptions &options) {
  if (text.size() > limits::maxLaunchBytes)
    return Error{name,
                 "the text has " + formatBytes(int64_t(text.size())) +
                     ", more than " +
                     formatBytes(int64_t(limits::maxLaunchBytes)),
                 ""};
  Result<std::vector<LaunchTable>> tables = loadTables();
  if (!tables)
    return tables.error();
  LaunchReader reader(*tables, name, options);
  if (std::optional<Error> error = reader.readScript(text, 1, 0))
    return *error;
  std::vector<Launch> launches = reader.takeLaunches();
  if (launches.empty())
    return noLaunch(*tables, name);
  return launches;
}
