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

/// Prints `error`, where it has a message; the exit code.
int printError(const Error &error);

/// `word` is no command of `app`: which may be meant.
Error unknownCommand(const CLI::App &app, const std::string &word);

/// What is wrong with the command line that `app` could not parse, and what
/// would work.
Error explain(const CLI::App &app, const CLI::ParseError &error);

/// The same, where CLI11 could not even read a value that a flag has.
Error explainValue(const CLI::App &app, int argc, char **argv);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_ERRORS_H
