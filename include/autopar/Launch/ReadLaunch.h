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

/// A function that returns what is known about the model with this name.
using FindModel = std::function<ModelFacts(const std::string &model)>;

struct ReadOptions {
  /// The version of the engine, for a text that states none.
  std::string version;
  /// Finds facts about models; null if nothing is known about any model.
  FindModel findModel;
  /// The texts of config files, by the last part of their paths.
  std::map<std::string, std::string> files = {};
};

/// Reads the launches of the engines in `tables` from `text`, which is a
/// command line, a shell script, a manifest or a config file. Fails, and names
/// `name` and the line, if there is no launch, if a quote does not end, or if
/// degrees do not fit together.
Result<std::vector<Launch>> readLaunches(const std::vector<LaunchTable> &tables,
                                         const std::string &text,
                                         const std::string &name,
                                         const ReadOptions &options);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_READLAUNCH_H
