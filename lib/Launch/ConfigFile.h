//===- ConfigFile.h - Settings in a config file -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LAUNCH_CONFIGFILE_H
#define AUTOPAR_LIB_LAUNCH_CONFIGFILE_H

#include "autopar/Launch/Launch.h"
#include "autopar/Launch/Yaml.h"

namespace autopar::launch {

/// Reads an engine's config file into settings of `launch`. A key that is a
/// setting replaces what flags say. Any other key is read as a flag without its
/// dashes, which a flag on the command line replaces. `path` is the name of the
/// file, which settings give as their origin.
void readConfig(const LaunchTable &table, const YamlDocument &config,
                const std::string &path, Launch &launch);

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_CONFIGFILE_H
