//===- autopar.cpp - The command for people who never heard of MLIR -------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HardwareCommand.h"

#include <CLI/CLI.hpp>

#include <cstdio>

using namespace autopar;

namespace {
/// What the command line said.
struct Options {
  std::vector<std::string> overrides;
  std::string first, second;
};
} // namespace

static int fail(const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.str().c_str());
  return 1;
}

template <typename Command>
static int run(const Options &options, Command command) {
  std::vector<Override> overrides;
  for (const std::string &text : options.overrides) {
    Result<Override> override = parseOverride(text);
    if (!override)
      return fail(override.error());
    overrides.push_back(std::move(*override));
  }
  HardwareLibrary library(std::move(overrides));
  Result<std::string> text = command(library);
  if (!text)
    return fail(text.error());
  if (auto error = library.unusedOverride())
    return fail(*error);
  std::fputs(text->c_str(), stdout);
  return 0;
}

static CLI::App *addHardware(CLI::App &app, Options &options) {
  CLI::App *hardware = app.add_subcommand(
      "hardware", "Chips and systems: what they can do, and who says so");
  hardware->footer(
      "A name is one of the library, or the path of a JSON file of your own\n"
      "(hardware/README.md describes the fields).\n\n"
      "  autopar hardware list\n"
      "  autopar hardware show h100-sxm\n"
      "  autopar hardware show gb200-nvl72\n"
      "  autopar hardware diff h100-sxm h200-sxm\n"
      "  autopar hardware diff h100-sxm ./my-chip.json\n");
  hardware->add_subcommand("list", "All chips and systems of the library");
  CLI::App *show = hardware->add_subcommand(
      "show", "Every figure of a chip or a system, with unit and source");
  show->add_option("name", options.first, "Chip, system, or file")->required();
  CLI::App *diff = hardware->add_subcommand(
      "diff", "The figures in which two chips, or two systems, differ");
  diff->add_option("first", options.first, "Chip, system, or file")->required();
  diff->add_option("second", options.second, "Chip, system, or file")
      ->required();
  for (CLI::App *command : {show, diff})
    command->add_option("--set", options.overrides,
                        "Replace a figure: chips.h100-sxm.memory_bandwidth="
                        "4e12 (repeatable)");
  return hardware;
}

int main(int argc, char **argv) {
  CLI::App app{"What a language model costs on a machine, and why"};
  app.name("autopar");
  Options options;
  CLI::App *hardware = addHardware(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  // Asked for here and not of CLI11, which would not name a mistyped command.
  for (CLI::App *command : {&app, hardware})
    if (command->parsed() && command->get_subcommands().empty()) {
      std::fprintf(stderr, "error: a subcommand is required\n\n%s",
                   command->help().c_str());
      return 1;
    }
  return run(options, [&](const HardwareLibrary &library) {
    if (hardware->got_subcommand("list"))
      return listHardware(library);
    if (hardware->got_subcommand("show"))
      return showHardware(library, options.first);
    return diffHardware(library, options.first, options.second);
  });
}
