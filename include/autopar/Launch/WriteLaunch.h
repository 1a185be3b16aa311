//===- WriteLaunch.h - Launches as commands and files -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_WRITELAUNCH_H
#define AUTOPAR_LAUNCH_WRITELAUNCH_H

#include "autopar/Launch/Launch.h"

namespace autopar::launch {

/// A file to start an engine with.
struct LaunchFile {
  std::string path, text;
};

/// A command: variables before it, its words, and the config file that it
/// names; no text if it names none.
struct LaunchCommand {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> words;
  LaunchFile config;
};

/// Writes the settings of a launch as a command of its table's version: the
/// first one, or the first whose last word begins with `program`. Errors: a
/// setting that this version has no word for; no such program.
Result<LaunchCommand> commandOf(const LaunchTable &table, const Launch &launch,
                                const std::string &program = "");
/// The command as lines of a shell, with continuation lines.
std::string shellText(const LaunchCommand &command);

/// Launches that were read, as `autopar.reading/1`.
std::string writeReading(const std::vector<Launch> &launches);
/// The same for people.
std::string readingText(const std::vector<Launch> &launches);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_WRITELAUNCH_H
