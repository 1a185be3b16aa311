//===- autopar.cpp - The command for people who never heard of MLIR -------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Completion.h"
#include "Errors.h"
#include "Help.h"

#include "autopar/Support/File.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;

/// Checks that a subcommand is given. It is done here, because CLI11 would not
/// name a mistyped subcommand.
static int requireSubcommand(CLI::App *app) {
  for (CLI::App *used : app->get_subcommands())
    return requireSubcommand(used);
  std::fprintf(stderr, "error: a subcommand is required\n\n%s",
               pageOf(*app).c_str());
  return 1;
}

using AddCommand = void (*)(CLI::App &app, std::vector<Command> &commands);

static constexpr std::pair<std::string_view, AddCommand> commandsByName[] = {
#ifdef AUTOPAR_ENABLE_MLIR
    {"estimate", addEstimate},   {"compare", addCompare},
    {"search", addSearch},       {"sweep", addSweep},
    {"models", addModels},       {"groups", addGroups},
    {"validate", addValidate},   {"replay", addReplay},
    {"serve", addServe},         {"launch", addLaunch},
    {"read", addRead},           {"why", addWhy},
    {"calibrate", addCalibrate},
#endif
    {"placement", addPlacement}, {"hardware", addHardware}};

/// Adds the command called `word`; all commands if there is none of this name.
/// Making the flags of all commands takes as long as a report.
static void addCommands(CLI::App &app, std::string_view word,
                        std::vector<Command> &commands) {
  auto isCalled = [&](const auto &command) { return command.first == word; };
  bool all = std::none_of(std::begin(commandsByName), std::end(commandsByName),
                          isCalled);
  for (const auto &command : commandsByName)
    if (all || isCalled(command))
      command.second(app, commands);
}

/// A launch names its model: `--from` leaves the operand open. It is required
/// otherwise, as CLI11 then knows that the last word is no flag's value.
static void openModel(CLI::App &app, int argc, char **argv) {
  bool isGiven = std::any_of(argv, argv + argc, [](std::string_view word) {
    return word.substr(0, 6) == "--from" &&
           (word.size() == 6 || word[6] == '=');
  });
  if (!isGiven)
    return;
  for (CLI::App *command : app.get_subcommands(nullptr))
    if (command->get_option_no_throw("--from"))
      command->get_option("model")->required(false);
}

static int run(int argc, char **argv) {
  CLI::App app{
      "Estimates what a language model costs on a machine, and explains why"};
  app.name("autopar");
  formatHelp(app);
  app.set_version_flag("--version", "autopar " AUTOPAR_VERSION,
                       "Print the version");
  std::vector<Command> commands;
  addCommands(app, argc > 1 ? argv[1] : "", commands);
  openModel(app, argc, argv);
  addCompletion(app, commands);
  addHelp(app);
  app.footer("  autopar estimate llama-3.3-70b --shard-tp=8\n"
             "  autopar help estimate\n");
  if (answerShell(app, argc, argv))
    return 0;
  if (std::optional<int> code = answerHelp(app, argc, argv))
    return *code;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    return printError(explain(app, error));
  } catch (const std::logic_error &) {
    return printError(explainValue(app, argc, argv));
  }
  for (const Command &command : commands)
    if (command.app->parsed())
      return command.run();
  return requireSubcommand(&app);
}

int main(int argc, char **argv) {
  outliveClosedPipe();
  if (int code = run(argc, argv))
    return code;
  Result<bool> arrived = flushOutput();
  return arrived ? 0 : printError(arrived.error());
}
