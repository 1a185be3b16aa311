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

/// Returns the words that call `app`: "autopar models show".
std::string callOf(const CLI::App &app);

/// Returns whether an option takes a value; a mere flag does not.
bool takesValue(const CLI::Option &option);

/// Returns the spelling of an option in help: "--shard-tp=N".
std::string spellingOf(const CLI::Option &option);

/// Makes `app`, and subcommands that are added later, print help in lines of
/// the terminal's width, under the headings of the options' groups.
void formatHelp(CLI::App &app);

/// Returns the page of help of `app`.
std::string pageOf(const CLI::App &app);

/// Adds `autopar help [command...]`, but only to the list of commands, because
/// CLI11 would run the command that the words name.
void addHelp(CLI::App &app);
/// Answers `autopar help`. Returns the exit code; nothing if the command line
/// does not call it.
std::optional<int> answerHelp(const CLI::App &app, int argc, char **argv);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_HELP_H
