//===- ShellText.h - Commands in a shell script -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a shell script into commands and words. Nothing is run: variables have
// the values that the script itself assigns as plain text, or the default of
// `${NAME:-default}`; other variables and substitutions stay as written.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_SHELLTEXT_H
#define AUTOPAR_LAUNCH_SHELLTEXT_H

#include "autopar/Support/Result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::launch {

/// A word of a command, without its quotes.
struct ShellWord {
  std::string text;
  /// The line of the word's first character, counted from 1.
  int64_t line = 1;
  /// The variables and substitutions in the word whose values are unknown.
  std::vector<std::string> unknown = {};
};

/// A command: first variables by name, which are assigned before the command or
/// exported by the script; then the words of the command.
struct ShellCommand {
  std::map<std::string, ShellWord> environment;
  std::vector<ShellWord> words;
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  /// The texts that the script writes by here-documents (`cat > x.yaml <<EOF`),
  /// by path.
  std::map<std::string, ShellWord> files;
};

/// Reads a script in which the variables `given` are set at the beginning.
/// Fails, and names `name` and the line, if a quote does not end or if there
/// are more than `limits::maxShellWords` words.
Result<ShellScript>
readShell(std::string_view text, const std::string &name,
          const std::map<std::string, ShellWord> &given = {});

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_SHELLTEXT_H
