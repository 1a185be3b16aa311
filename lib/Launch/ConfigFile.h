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

/// Whether a document is a file of settings of a trainer, by its keys.
bool isFileOf(const LaunchTable &table, const YamlDocument &document);

/// Reads a config file of an engine into settings of `launch`: keys of settings
/// replace what flags say, other keys are flags without their dashes, which
/// flags on the command line replace. `path` names the file in provenance.
void readConfig(const LaunchTable &table, const YamlDocument &config,
                const std::string &path, Launch &launch);

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_CONFIGFILE_H
