//===- BundleCommand.cpp - autopar replay ---------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Errors.h"

#include "autopar/Bundle/Bundle.h"
#include "autopar/Support/File.h"

#include <memory>

using namespace autopar;
using namespace autopar::bundle;

namespace {
struct ReplayOptions {
  std::string file, output = "-";
  bool json = false;
};
} // namespace

static int runReplay(const ReplayOptions &options) {
  Result<Bundle> bundle = readBundle(options.file);
  if (!bundle)
    return printError(bundle.error());
  Result<Replay> done = replay(*bundle);
  if (!done)
    return printError(done.error());
  Result<bool> written = writeOutput(
      options.output, options.json ? writeJson(*done) : writeText(*done));
  if (!written)
    return printError(written.error());
  return done->isSame() ? 0 : 1;
}

void autopar::addReplay(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App *command = app.add_subcommand(
      "replay", "Repeat the estimate of a bundle, and show any difference");
  command->add_option("file", options->file, "File that --bundle has written")
      ->required();
  command->add_flag("--json", options->json, "As JSON (autopar.replay/1)");
  command->add_option("-o", options->output, "File (default: standard output)")
      ->type_name("file");
  command->footer(
      "Estimates the module of a bundle with the bundle's own files of\n"
      "hardware and runtimes. The exit code is 0 where both reports have the\n"
      "same bytes, else 1. Also shows in what the installed files differ, and\n"
      "the report that they would give.\n\n"
      "  autopar estimate llama-3.3-70b --shard-tp=8 "
      "--bundle=plan.autopar.zip\n"
      "  autopar replay plan.autopar.zip\n");
  commands.push_back({command, [=] { return runReplay(*options); }});
}
