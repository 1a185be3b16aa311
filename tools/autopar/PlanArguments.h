//===- PlanArguments.h - Flags that several commands share ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_PLANARGUMENTS_H
#define AUTOPAR_TOOLS_AUTOPAR_PLANARGUMENTS_H

#include "ModelCommands.h"

#include <CLI/CLI.hpp>

#include <functional>

namespace autopar {

/// The flags of a plan and what the command line said.
struct PlanArguments {
  pipelines::PlanFlags flags;
  pipelines::PlanValues values = pipelines::PlanValues(flags.all().size());
};

/// What the argument of a model may be.
extern const char *const modelHelp;

/// One of the flags of plans, under a name and with a help of its own.
CLI::Option *addPlanOption(CLI::App *command, const pipelines::PlanFlag &flag,
                           const std::string &name, const std::string &help,
                           std::vector<std::string> &values);

/// Adds those of the flags of plans whose names are wanted.
void addPlanFlags(CLI::App *command, PlanArguments &arguments,
                  const std::function<bool(const std::string &name)> &wanted);

/// Adds the flags that say which plans are searched, and for what.
void addChoices(CLI::App *command, SearchArgument &search);
/// Adds --format, of a table, one of `formats`, and --json.
void addTableFormat(CLI::App *command, SearchArgument &search,
                    const std::vector<std::string> &formats);

/// Adds the flags that say where a model comes from.
void addSource(CLI::App *command, ModelArgument &model);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_PLANARGUMENTS_H
