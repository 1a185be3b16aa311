//===- HardwareFlags.cpp - The command line of autopar hardware -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "autopar/Hardware/HardwareText.h"
#include "autopar/Support/File.h"

#include <cstdio>

using namespace autopar;
using namespace autopar::hardware;

namespace {
/// The values of the flags on the command line.
struct Options {
  std::vector<std::string> overrides;
  std::string first, second, output = "-";
};
} // namespace

static int fail(const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.str().c_str());
  return 1;
}

template <typename Function>
static int run(const Options &options, Function function) {
  Result<std::vector<Override>> overrides = parseOverrides(options.overrides);
  if (!overrides)
    return fail(overrides.error());
  HardwareLibrary library(std::move(*overrides));
  Result<std::string> text = function(library);
  if (!text)
    return fail(text.error());
  if (auto error = library.unusedOverride())
    return fail(*error);
  Result<bool> written = writeOutput(options.output, *text);
  return written ? 0 : fail(written.error());
}

static void addOverrides(CLI::App *command, Options &options) {
  command->add_option("--set", options.overrides,
                      "Replace a figure: chips.h100-sxm.memory_bandwidth="
                      "4e12 (repeatable)");
}

static void addNew(CLI::App *hardware, std::shared_ptr<Options> options,
                   std::vector<Command> &commands) {
  CLI::App *create = hardware->add_subcommand(
      "new",
      "Write a file for a machine of your own, from a chip of the library");
  create->add_option("like", options->first, "Chip or system")->required();
  create->add_option("--as", options->second, "Name of the new machine")
      ->type_name("name")
      ->required();
  create->add_option("-o", options->output, "File (default: standard output)");
  create->footer(
      "Change the figures; those left out are the library chip's. Without\n"
      "\"like\", memory, bandwidth, peak and link are enough.\n\n"
      "  autopar hardware new h100-sxm --as my-chip -o my-chip.json\n"
      "  autopar estimate llama-3.1-8b --hardware=./my-chip.json\n");
  commands.push_back({create, [=] {
                        return run(*options, [&](const auto &library) {
                          return library.draftNode(options->first,
                                                   options->second);
                        });
                      }});
}

void autopar::addHardware(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<Options>();
  CLI::App *hardware = app.add_subcommand(
      "hardware", "Chips and systems: their figures and the sources");
  hardware->footer(
      "A name is one of the library, or the path of a JSON file of your own\n"
      "(hardware/README.md describes the fields).\n\n"
      "  autopar hardware list\n"
      "  autopar hardware show h100-sxm\n"
      "  autopar hardware show gb200-nvl72\n"
      "  autopar hardware diff h100-sxm h200-sxm\n"
      "  autopar hardware diff h100-sxm ./my-chip.json\n"
      "  autopar hardware new h100-sxm --as my-chip -o my-chip.json\n");
  addNew(hardware, options, commands);
  CLI::App *list = hardware->add_subcommand(
      "list", "List all chips and systems of the library");
  commands.push_back({list, [=] { return run(*options, listHardware); }});
  CLI::App *show = hardware->add_subcommand(
      "show", "Show every figure of a chip or a system, with unit and source");
  show->add_option("name", options->first, "Chip, system, or file")->required();
  addOverrides(show, *options);
  commands.push_back({show, [=] {
                        return run(*options, [&](const auto &library) {
                          return showHardware(library, options->first);
                        });
                      }});
  CLI::App *diff = hardware->add_subcommand(
      "diff", "Show the figures in which two chips, or two systems, differ");
  diff->add_option("first", options->first, "Chip, system, or file")
      ->required();
  diff->add_option("second", options->second, "Chip, system, or file")
      ->required();
  addOverrides(diff, *options);
  commands.push_back({diff, [=] {
                        return run(*options, [&](const auto &library) {
                          return diffHardware(library, options->first,
                                              options->second);
                        });
                      }});
}
