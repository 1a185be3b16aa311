//===- ReadLaunch.h - Launches from text ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_READLAUNCH_H
#define AUTOPAR_LAUNCH_READLAUNCH_H

#include "autopar/Launch/Launch.h"

#include <functional>

namespace autopar::launch {

/// Returns what is known of the model with that name.
using FindModel = std::function<ModelFacts(const std::string &model)>;

struct ReadOptions {
  /// The version of the engine, if the text states none.
  std::string version;
  /// May be null: nothing is known of any model.
  FindModel findModel;
  /// Texts of config files, by the last part of their paths.
  std::map<std::string, std::string> files = {};
  /// The folder of `runtimes` with the forms by which a log is read.
  std::string logForms = "logs";
};

/// Reads the launches of engines in `tables` from `text`: a command line, a
/// shell script, a manifest or a config file. Errors name `name` and the line:
/// no launch is found, a quote without its end, degrees that do not fit
/// together.
Result<std::vector<Launch>> readLaunches(const std::vector<LaunchTable> &tables,
                                         const std::string &text,
                                         const std::string &name,
                                         const ReadOptions &options);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_READLAUNCH_H
