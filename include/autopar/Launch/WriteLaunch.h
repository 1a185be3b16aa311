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

/// A file that is needed to start an engine.
struct LaunchFile {
  std::string path, text;
};

/// A command: the variables before it, its words, and the config file that it
/// names; the file's text is empty if the command names none.
struct LaunchCommand {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> words;
  LaunchFile config;
};

/// Writes the settings of a launch as a command of the launch's version. The
/// command is the first one in the table or, if `program` is given, the first
/// one whose last word begins with `program`. Fails if the version has no word
/// for a setting, or if there is no such program.
Result<LaunchCommand> commandOf(const LaunchTable &table, const Launch &launch,
                                const std::string &program = "");
/// Returns the command as lines of a shell script, which end with a backslash
/// if the command goes on.
std::string shellText(const LaunchCommand &command);

/// Returns launches that were read as JSON, `autopar.reading/1`.
std::string writeReading(const std::vector<Launch> &launches);
/// Returns launches that were read as text for people.
std::string readingText(const std::vector<Launch> &launches);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_WRITELAUNCH_H
