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

#include <cstdio>

using namespace autopar;

/// Asked for here and not of CLI11, which would not name a mistyped command.
static int requireSubcommand(CLI::App *app) {
  for (CLI::App *used : app->get_subcommands())
    return requireSubcommand(used);
  std::fprintf(stderr, "error: a subcommand is required\n\n%s",
               pageOf(*app).c_str());
  return 1;
}

static int run(int argc, char **argv) {
  CLI::App app{"What a language model costs on a machine, and why"};
  app.name("autopar");
  formatHelp(app);
  app.set_version_flag("--version", "autopar " AUTOPAR_VERSION,
                       "Print the version");
  std::vector<Command> commands;
#ifdef AUTOPAR_ENABLE_MLIR
  addEstimate(app, commands);
  addCompare(app, commands);
  addSearch(app, commands);
  addSweep(app, commands);
  addModels(app, commands);
  addGroups(app, commands);
  addValidate(app, commands);
  addReplay(app, commands);
  addServe(app, commands);
#endif
  addPlacement(app, commands);
  addHardware(app, commands);
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
  failOnClosedPipe();
  if (int code = run(argc, argv))
    return code;
  Result<bool> arrived = flushOutput();
  return arrived ? 0 : printError(arrived.error());
}
