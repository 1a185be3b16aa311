//===- Arguments.h - The flags of a command ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LAUNCH_ARGUMENTS_H
#define AUTOPAR_LIB_LAUNCH_ARGUMENTS_H

#include "autopar/Launch/Launch.h"
#include "autopar/Launch/ShellText.h"

namespace autopar::launch {

/// Reads the words behind an engine's command into settings of `launch`, whose
/// engine and versions are set. Words without a meaning go to
/// `launch.unknown`. `script` names the text in provenance. Returns the paths
/// of config files.
std::vector<std::string> readArguments(const LaunchTable &table,
                                       const std::vector<ShellWord> &words,
                                       const std::string &script,
                                       Launch &launch);

/// Reads several lists of words, each as `readArguments` does: what the flags
/// of a table mean is found once for all.
void readEachArguments(const LaunchTable &table,
                       const std::vector<std::vector<ShellWord>> &lists,
                       const std::string &script, Launch &launch);

/// Reads the environment variables that are settings.
void readEnvironment(const LaunchTable &table,
                     const std::map<std::string, ShellWord> &environment,
                     const std::string &script, Launch &launch);

/// Converts `text` to the setting's type. Errors name what was expected.
Result<model::JsonValue> convert(const Setting &setting,
                                 const std::string &text);

/// Sets a setting from a JSON value, or says in the findings why it cannot.
void setValue(const Setting &setting, const model::JsonValue &value,
              const std::string &from, Launch &launch);

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_ARGUMENTS_H
