//===- Completion.h - What a shell can complete -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_COMPLETION_H
#define AUTOPAR_TOOLS_AUTOPAR_COMPLETION_H

#include "Commands.h"

namespace autopar {

/// Adds `autopar completion bash|zsh`, whose scripts call
/// `autopar completion words`.
void addCompletion(CLI::App &app, std::vector<Command> &commands);

/// Whether `autopar completion words WORD...` was called: what the last word
/// may become has been printed then. "<file>" stands for names of files. Not
/// for CLI11, which would read the words.
bool answerShell(const CLI::App &app, int argc, char **argv);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_COMPLETION_H
