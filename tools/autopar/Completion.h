//===- Completion.h - Completion for shells ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_COMPLETION_H
#define AUTOPAR_TOOLS_AUTOPAR_COMPLETION_H

#include "Commands.h"

namespace autopar {

/// Adds `autopar completion bash|zsh`, which prints a script that calls
/// `autopar completion words`.
void addCompletion(CLI::App &app, std::vector<Command> &commands);

/// Answers `autopar completion words WORD...`: prints the completions of the
/// last word and returns true. "<file>" stands for names of files. CLI11 must
/// not see the words, because it would parse them.
bool answerShell(const CLI::App &app, int argc, char **argv);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_COMPLETION_H
