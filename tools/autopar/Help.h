//===- Help.h - Pages of --help and autopar help ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_HELP_H
#define AUTOPAR_TOOLS_AUTOPAR_HELP_H

#include "Commands.h"

#include <optional>

namespace autopar {

/// The words that call `app`: "autopar models show".
std::string callOf(const CLI::App &app);

/// Whether an option is no mere flag.
bool takesValue(const CLI::Option &option);

/// The spelling of an option in help: "--shard-tp=N".
std::string spellingOf(const CLI::Option &option);

/// Makes `app`, and subcommands that are added later, print help in lines of
/// the terminal's width, under the headings of the options' groups.
void formatHelp(CLI::App &app);

/// The help of `app`.
std::string pageOf(const CLI::App &app);

/// Adds `autopar help [command...]`, for the list of commands alone: CLI11
/// would run the command that it names.
void addHelp(CLI::App &app);
/// Its exit code, where it was called.
std::optional<int> answerHelp(const CLI::App &app, int argc, char **argv);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_HELP_H
