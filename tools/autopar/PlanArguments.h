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

/// The flags of a plan, and their values on the command line.
struct PlanArguments {
  pipelines::PlanFlags flags;
  pipelines::PlanValues values = pipelines::PlanValues(flags.all().size());
};

/// The help on the argument that names a model.
extern const char *const modelHelp;

/// Adds a flag of plans under another name and with its own help.
CLI::Option *addPlanOption(CLI::App *command, const pipelines::PlanFlag &flag,
                           const std::string &name, const std::string &help,
                           std::vector<std::string> &values);

/// Adds those flags of plans that `wanted` accepts.
void addPlanFlags(CLI::App *command, PlanArguments &arguments,
                  const std::function<bool(const std::string &name)> &wanted);

/// Adds the flags that choose the goal and the plans that are searched.
void addChoices(CLI::App *command, SearchArgument &search);
/// Adds --format, which accepts the formats of a table, and --json.
void addTableFormat(CLI::App *command, SearchArgument &search,
                    const std::vector<std::string> &formats);

/// Adds the flags that choose where a model comes from.
void addSource(CLI::App *command, ModelArgument &model);

/// Sets what the flags leave open from the first launch in the file `from`: the
/// model, the plan and the runtime. Returns an error for a file without one.
std::optional<Error> takeLaunch(const std::string &from, ModelArgument &model,
                                PlanArguments &arguments);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_PLANARGUMENTS_H
