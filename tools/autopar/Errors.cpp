//===- Errors.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"

#include "Help.h"
#include "OtherFlags.h"
#include "autopar/Hub/Hub.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;
using namespace autopar::hub;

int autopar::printError(const Error &error) {
  if (!error.message.empty())
    std::fprintf(stderr, "error: %s\n", error.str().c_str());
  return 1;
}

static bool is(const CLI::ParseError &error, CLI::ExitCodes kind) {
  return error.get_exit_code() == static_cast<int>(kind);
}

/// Returns the command that was being parsed.
static const CLI::App &commandIn(const CLI::App &app) {
  const CLI::App *command = &app;
  while (!command->get_subcommands().empty())
    command = command->get_subcommands().back();
  return *command;
}

static std::string seeHelp(const CLI::App &app) {
  return "see " + callOf(app) + " --help";
}

/// Returns whether `word` names a model, which the user may have written in
/// place of a command.
static bool isModel(const std::string &word) {
  std::vector<std::string> models = bundledModels();
  return word.find('/') != std::string::npos ||
         std::find(models.begin(), models.end(), word) != models.end();
}

static std::vector<const CLI::App *> commandsOf(const CLI::App &app) {
  return app.get_subcommands(
      [](const CLI::App *one) { return !one->get_group().empty(); });
}

/// Returns the calls of commands named `word` below the commands of `app`:
/// "autopar models show" and "autopar hardware show" for "show".
static std::vector<std::string> deeperCommands(const CLI::App &app,
                                               const std::string &word) {
  std::vector<std::string> calls;
  for (const CLI::App *command : commandsOf(app))
    for (const CLI::App *deeper : commandsOf(*command))
      if (deeper->get_name() == word)
        calls.push_back(callOf(*deeper));
  return calls;
}

Error autopar::unknownCommand(const CLI::App &app, const std::string &word) {
  std::vector<std::string> names;
  for (const CLI::App *command : commandsOf(app))
    names.push_back(command->get_name());
  bool estimates =
      std::find(names.begin(), names.end(), "estimate") != names.end();
  if (estimates && isModel(word))
    return {"", "unknown command \"" + shorten(word) + "\", which is a model",
            "autopar estimate " + shorten(word)};
  std::string unknown = "unknown command \"" + shorten(word) + "\"";
  if (std::vector<std::string> calls = deeperCommands(app, word);
      !calls.empty())
    return {"", unknown, "there is " + join(calls, " and ")};
  std::string near = nearest(word, names);
  bool shows = std::find(names.begin(), names.end(), "show") != names.end();
  if (near.empty() && shows)
    return {"", unknown,
            "commands: " + join(names, ", ") + "; perhaps " + callOf(app) +
                " show " + shorten(word)};
  return {"", unknown + didYouMean(word, names),
          names.empty() ? callOf(app) + " has no commands"
                        : "commands: " + join(names, ", ")};
}

//===----------------------------------------------------------------------===//
// Errors about flags that do not exist
//===----------------------------------------------------------------------===//

static bool isPartOf(const std::string &name, const std::string &flag) {
  return ("-" + flag + "-").find("-" + name + "-") != std::string::npos;
}

static bool beginsAlike(const std::string &a, const std::string &b) {
  return std::min(a.size(), b.size()) > 3 &&
         a.compare(0, b.size(), b, 0, a.size()) == 0;
}

static std::string askWhetherFlag(const std::string &name) {
  return name.empty() ? "" : ", " + askWhether("--" + name, "");
}

/// Returns the flag that `name` seems to mean; "" if there is none.
static std::string nearestFlag(const std::string &name,
                               const std::vector<std::string> &flags) {
  auto find = [&](auto isMeant) {
    auto it = std::find_if(flags.begin(), flags.end(), isMeant);
    return it == flags.end() ? "" : *it;
  };
  std::string near = find([&](const std::string &flag) {
    return bareName(flag) == bareName(name);
  });
  if (near.empty())
    near = find([&](const std::string &flag) { return isPartOf(name, flag); });
  if (near.empty())
    near = find([&](const std::string &flag) {
      return beginsAlike(name, flag) || beginsAlike(flag, name);
    });
  return near.empty() ? nearest(name, flags) : near;
}

static Error unknownFlag(const CLI::App &app, const std::string &word) {
  std::vector<std::string> flags;
  for (const CLI::Option *option : app.get_options({}))
    for (const std::string &name : option->get_lnames())
      flags.push_back(name);
  std::string name = word.substr(0, word.find('='));
  std::string message = "unknown flag " + shorten(name);
  name.erase(0, name.find_first_not_of('-'));
  // The error suggests the flag of this command that corresponds to another
  // tool's flag.
  if (const OtherFlag *other = findOtherFlag(name)) {
    std::string ours = other->ours, note = other->note;
    bool isHere = std::find(flags.begin(), flags.end(), ours) != flags.end();
    if (isHere || ours.empty())
      return {"", message + askWhetherFlag(ours),
              note.empty() ? seeHelp(app) : note};
  }
  std::string near = name.empty() ? "" : nearestFlag(name, flags);
  return {"", message + askWhetherFlag(near), seeHelp(app)};
}

static Error unexpected(const CLI::App &app,
                        const std::vector<std::string> &words) {
  auto isFlag = [](const std::string &word) {
    return word.size() > 1 && word[0] == '-';
  };
  bool hasCommands = !app.get_subcommands([](auto *) { return true; }).empty();
  auto named = std::find_if_not(words.begin(), words.end(), isFlag);
  // If the command itself is mistyped, its flags are unknown too, so that only
  // the command is reported.
  if (hasCommands && named != words.end())
    return unknownCommand(app, *named);
  auto flag = std::find_if(words.begin(), words.end(), isFlag);
  if (flag != words.end())
    return unknownFlag(app, *flag);
  return {"",
          callOf(app) + " takes no further word: \"" + shorten(words.front()) +
              "\"",
          seeHelp(app)};
}

//===----------------------------------------------------------------------===//
// Errors about values that a flag cannot have
//===----------------------------------------------------------------------===//

/// The parts of an error of CLI11: "name: what" or "Could not convert: name =
/// value".
struct BadValue {
  std::string name, what;
};

static BadValue split(const std::string &message) {
  size_t colon = std::min(message.find(": "), message.size());
  BadValue bad{message.substr(0, colon),
               message.substr(std::min(colon + 2, message.size()))};
  if (bad.name == "Could not convert")
    bad.name = bad.what.substr(0, bad.what.find(" = "));
  return bad;
}

static Error badValue(const CLI::App &app, const CLI::ParseError &error) {
  BadValue bad = split(error.what());
  const CLI::Option *option = app.get_option_no_throw(bad.name);
  if (!option)
    return {"", error.what(), seeHelp(app)};
  if (!takesValue(*option))
    return {"", bad.name + " takes no value", ""};
  if (is(error, CLI::ExitCodes::ArgumentMismatch))
    return {"",
            option->count() > 1
                ? bad.name + " is given " + std::to_string(option->count()) +
                      " times, expected once"
                : bad.name + " needs a value: " + spellingOf(*option),
            ""};
  std::string given = bad.name;
  if (!option->results().empty())
    given += "=" + shorten(option->results().back());
  bool isOurs = bad.what.rfind("expected", 0) == 0;
  return {"",
          given + ": " +
              (isOurs ? bad.what : "expected " + spellingOf(*option)),
          isOurs ? "" : seeHelp(app)};
}

/// Rewrites "--json excludes --format" as "--json and --format exclude each
/// other".
static Error badPair(const CLI::ParseError &error) {
  std::string text = error.what();
  size_t verb = text.find(" excludes ");
  if (verb == std::string::npos)
    return {"", text, ""};
  return {"",
          text.substr(0, verb) + " and " + text.substr(verb + 10) +
              " exclude each other",
          "give one of them"};
}

static Error missing(const CLI::App &app, const std::string &message) {
  std::string name = message.substr(0, message.find(' '));
  const CLI::Option *option = app.get_option_no_throw(name);
  return {"", message,
          option ? spellingOf(*option) + ": " + option->get_description()
                 : seeHelp(app)};
}

Error autopar::explain(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &command = commandIn(app);
  std::vector<std::string> left = app.remaining(/*recurse=*/true);
  left.erase(std::remove(left.begin(), left.end(), "--"), left.end());
  // A word that is missing may be there under a wrong name.
  if (!left.empty() && (is(error, CLI::ExitCodes::ExtrasError) ||
                        is(error, CLI::ExitCodes::RequiredError)))
    return unexpected(command, left);
  if (is(error, CLI::ExitCodes::RequiredError))
    return missing(command, error.what());
  if (is(error, CLI::ExitCodes::ExcludesError) ||
      is(error, CLI::ExitCodes::RequiresError))
    return badPair(error);
  return badValue(command, error);
}

Error autopar::explainValue(const CLI::App &app, int argc, char **argv) {
  const CLI::App &command = commandIn(app);
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i], name = word.substr(0, word.find('='));
    const CLI::Option *option = command.get_option_no_throw(name);
    if (option && !takesValue(*option) && name != word)
      return {"", shorten(word) + ": expected true or false", ""};
  }
  return {"", "a flag has a value that it cannot have", seeHelp(command)};
}
