//===- Commands.h - Subcommands and what they run ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_COMMANDS_H
#define AUTOPAR_TOOLS_AUTOPAR_COMMANDS_H

#include <CLI/CLI.hpp>

#include <functional>
#include <vector>

namespace autopar {

/// A subcommand; `run` runs it and returns the exit code.
struct Command {
  CLI::App *app;
  std::function<int()> run;
};

/// Adds --calibration, which puts a file before the overrides of --set; it is
/// added after --set.
CLI::Option *addCalibration(CLI::App *command,
                            std::vector<std::string> &overrides);

void addHardware(CLI::App &app, std::vector<Command> &commands);
void addEstimate(CLI::App &app, std::vector<Command> &commands);
void addGroups(CLI::App &app, std::vector<Command> &commands);
void addSearch(CLI::App &app, std::vector<Command> &commands);
void addSweep(CLI::App &app, std::vector<Command> &commands);
void addCompare(CLI::App &app, std::vector<Command> &commands);
void addPlacement(CLI::App &app, std::vector<Command> &commands);
void addModels(CLI::App &app, std::vector<Command> &commands);
void addReplay(CLI::App &app, std::vector<Command> &commands);
void addServe(CLI::App &app, std::vector<Command> &commands);
void addRead(CLI::App &app, std::vector<Command> &commands);
void addLaunch(CLI::App &app, std::vector<Command> &commands);
void addWhy(CLI::App &app, std::vector<Command> &commands);
void addCalibrate(CLI::App &app, std::vector<Command> &commands);
void addValidate(CLI::App &app, std::vector<Command> &commands);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_COMMANDS_H
