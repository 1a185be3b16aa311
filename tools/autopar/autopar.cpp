//===- autopar.cpp - The command for people who never heard of MLIR -------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "autopar/Support/File.h"

#include <cstdio>

using namespace autopar;

/// Asked for here and not of CLI11, which would not name a mistyped command.
static int requireSubcommand(CLI::App *app) {
  for (CLI::App *used : app->get_subcommands())
    return requireSubcommand(used);
  std::fprintf(stderr, "error: a subcommand is required\n\n%s",
               app->help().c_str());
  return 1;
}

static int run(int argc, char **argv) {
  CLI::App app{"What a language model costs on a machine, and why"};
  app.name("autopar");
  std::vector<Command> commands;
#ifdef AUTOPAR_ENABLE_MLIR
  addEstimate(app, commands);
  addCompare(app, commands);
  addModels(app, commands);
  addGroups(app, commands);
  addValidate(app, commands);
#endif
  addPlacement(app, commands);
  addHardware(app, commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 1;
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
  if (arrived)
    return 0;
  std::fprintf(stderr, "error: %s\n", arrived.error().str().c_str());
  return 1;
}
