//===- Errors.h - Command lines that say nothing ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_ERRORS_H
#define AUTOPAR_TOOLS_AUTOPAR_ERRORS_H

#include "autopar/Support/Result.h"

#include <CLI/CLI.hpp>

namespace autopar {

/// Prints `error` if it has a message. Returns the exit code.
int printError(const Error &error);

/// Returns the error for the unknown command `word` of `app`, with a
/// suggestion.
Error unknownCommand(const CLI::App &app, const std::string &word);

/// Returns an error for a command line that `app` could not parse, with a note
/// on what would work.
Error explain(const CLI::App &app, const CLI::ParseError &error);

/// Returns an error for a command line in which CLI11 could not even parse the
/// value of a flag.
Error explainValue(const CLI::App &app, int argc, char **argv);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_ERRORS_H
