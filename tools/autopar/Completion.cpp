//===- Completion.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Completion.h"

#include "CompletionScripts.h"
#include "Help.h"
#include "autopar/Hub/Hub.h"
#include "autopar/Placement/Placement.h"
#include "autopar/Schedule/Schedule.h"
#include "autopar/Support/ElementType.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Sweep/Sweep.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::placement;
using namespace autopar::schedule;
using namespace autopar::sweep;

using Words = std::vector<std::string>;

/// Stands for names of files, which the shell scripts complete themselves.
static constexpr const char *files = "<file>";

static void append(Words &words, const Words &more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Splits texts such as "a|b", "a;b" and "a, b, or c" into words.
static Words wordsOf(const std::string &text) {
  Words words(1);
  for (char c : text)
    if (c == '|' || c == ',' || c == ';' || c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  words.erase(std::remove_if(words.begin(), words.end(),
                             [](const std::string &word) {
                               return word.empty() || word == "or";
                             }),
              words.end());
  return words;
}

//===----------------------------------------------------------------------===//
// Values of options
//===----------------------------------------------------------------------===//

static Words namesOfLibrary(const std::string &folder) {
  return namesIn(dataDirectory("hardware") + "/" + folder);
}

/// Returns the names of the library that the option's value may take.
static Words namesFor(const CLI::App &command, const CLI::Option &option) {
  std::string name = option.get_name();
  const CLI::App *parent = command.get_parent();
  bool isHardware = parent && parent->get_name() == "hardware";
  bool isModel = parent && parent->get_name() == "models";
  Words words;
  if (name == "--hardware" || isHardware)
    append(words, namesOfLibrary("systems"));
  if (isHardware)
    append(words, namesOfLibrary("chips"));
  if (name == "--runtime")
    append(words, namesIn(dataDirectory("runtimes")));
  if (name == "model" || (isModel && !option.nonpositional()))
    append(words, bundledModels());
  if (name == "--plot")
    append(words, plotColumns());
  if (name == "--schedule")
    append(words, wordsOf(scheduleChoices()));
  return words;
}

/// Returns the values for which a word of help stands ("format", "file"); in a
/// complete list, the word stands for itself.
static Words valuesOfWord(const std::string &word, bool isListed) {
  static const Words paths = {"file",  "path", "plan", "name",
                              "words", "FILE", "TEXT"};
  if (word == "format")
    return wordsOf(std::string(elementTypeChoices()));
  if (word == "policy")
    return wordsOf(policyChoices());
  if (std::find(paths.begin(), paths.end(), word) != paths.end())
    return {files};
  bool isPlaceholder = word == "N" || word.find_first_of(".:=[@") != word.npos;
  return isListed && !isPlaceholder ? Words{word} : Words();
}

/// Returns the values of an option, by its type in help and by its name.
static Words valuesOf(const CLI::App &command, const CLI::Option &option) {
  Words words = namesFor(command, option);
  std::string type = option.get_type_name();
  bool isListed = type.find('|') != type.npos && type.find("...") == type.npos;
  for (const std::string &word : wordsOf(type))
    for (const std::string &value : valuesOfWord(word, isListed))
      if (std::find(words.begin(), words.end(), value) == words.end())
        words.push_back(value);
  return words;
}

//===----------------------------------------------------------------------===//
// What may stand at the cursor
//===----------------------------------------------------------------------===//

/// Returns the command that the first words name; sets `at` to the index of the
/// next word.
static const CLI::App &commandOf(const CLI::App &app, const Words &words,
                                 size_t &at) {
  const CLI::App *command = &app;
  for (bool found = true; found && at + 1 < words.size();) {
    found = false;
    for (const CLI::App *one : command->get_subcommands({}))
      if (one->get_name() == words[at]) {
        command = one;
        found = true;
        ++at;
        break;
      }
  }
  return *command;
}

static Words commandsAndFlags(const CLI::App &command, bool flags) {
  Words words;
  for (const CLI::App *one : command.get_subcommands({}))
    if (!one->get_group().empty() && !flags)
      words.push_back(one->get_name());
  for (const CLI::Option *option : command.get_options({}))
    for (const std::string &name : option->get_lnames())
      if (flags && !option->get_group().empty())
        words.push_back("--" + name + (takesValue(*option) ? "=" : ""));
  return words;
}

/// Returns the operand of `command` that follows after `before` other operands.
static const CLI::Option *operandAt(const CLI::App &command, size_t before) {
  for (const CLI::Option *option : command.get_options({}))
    if (!option->nonpositional() &&
        (before-- == 0 || option->get_items_expected_max() > 1))
      return option;
  return nullptr;
}

/// Returns the values that may follow after "--flag=", or after "--flag" and a
/// space; nothing if neither stands there.
static std::optional<Words> valuesAfter(const CLI::App &command,
                                        const std::string &before,
                                        const std::string &word) {
  size_t equals = word.find('=');
  bool joined = word.rfind("--", 0) == 0 && equals != word.npos;
  const CLI::Option *option =
      command.get_option_no_throw(joined ? word.substr(0, equals) : before);
  if (!option || !option->nonpositional() || !takesValue(*option))
    return std::nullopt;
  Words values = valuesOf(command, *option);
  for (std::string &value : values)
    if (joined && value != files)
      value.insert(0, word.substr(0, equals + 1));
  return values;
}

/// Returns whether word `i` is an operand: neither a flag nor the value of a
/// flag.
static bool isOperand(const CLI::App &command, const Words &words, size_t i) {
  if (words[i].rfind('-', 0) == 0 && words[i].size() > 1)
    return false;
  const CLI::Option *flag =
      i > 0 ? command.get_option_no_throw(words[i - 1]) : nullptr;
  return !flag || !flag->nonpositional() || !takesValue(*flag);
}

static Words candidates(const CLI::App &app, const Words &words) {
  // The words after `autopar help` name commands too, as in `autopar help
  // models`.
  bool isHelp = words.size() > 1 && words[0] == "help";
  size_t at = isHelp ? 1 : 0, operands = 0;
  const CLI::App &command = commandOf(app, words, at);
  if (auto values = valuesAfter(
          command, words.size() > 1 ? words[words.size() - 2] : std::string(),
          words.back()))
    return *values;
  if (words.back().rfind('-', 0) == 0)
    return commandsAndFlags(command, /*flags=*/true);
  for (size_t i = at; i + 1 < words.size(); ++i)
    operands += isOperand(command, words, i);
  Words found =
      operands == 0 ? commandsAndFlags(command, /*flags=*/false) : Words();
  if (isHelp)
    return found;
  if (const CLI::Option *operand = operandAt(command, operands))
    append(found, valuesOf(command, *operand));
  return found;
}

/// Returns the completions of the last of `words`, which are the words after
/// `autopar`.
static Words completionsOf(const CLI::App &app, const Words &words) {
  Words found = candidates(app, words);
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const std::string &word) {
                               return word != files &&
                                      word.rfind(words.back(), 0) != 0;
                             }),
              found.end());
  return found;
}

//===----------------------------------------------------------------------===//
// The command autopar completion
//===----------------------------------------------------------------------===//

static int printScript(const char *script) {
  std::fputs(script, stdout);
  return 0;
}

bool autopar::answerShell(const CLI::App &app, int argc, char **argv) {
  std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 3 || given[0] != "completion" || given[1] != "words")
    return false;
  for (const std::string &word :
       completionsOf(app, {given.begin() + 2, given.end()}))
    std::printf("%s\n", word.c_str());
  return true;
}

void autopar::addCompletion(CLI::App &app, std::vector<Command> &commands) {
  CLI::App *completion = app.add_subcommand(
      "completion", "Print a script by which the shell completes commands, "
                    "flags, models and machines");
  completion->footer("For this shell, and for all later ones:\n\n"
                     "  source <(autopar completion bash)\n"
                     "  autopar completion bash > "
                     "~/.local/share/bash-completion/completions/autopar\n"
                     "  autopar completion zsh > a/folder/of/fpath/_autopar\n");
  CLI::App *bash = completion->add_subcommand("bash", "The script for bash");
  commands.push_back({bash, [] { return printScript(bashScript); }});
  CLI::App *zsh = completion->add_subcommand("zsh", "The script for zsh");
  commands.push_back({zsh, [] { return printScript(zshScript); }});
}
