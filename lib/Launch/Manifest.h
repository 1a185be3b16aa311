//===- Manifest.h - Engines in a manifest -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LAUNCH_MANIFEST_H
#define AUTOPAR_LIB_LAUNCH_MANIFEST_H

#include "autopar/Launch/Launch.h"
#include "autopar/Launch/ShellText.h"
#include "autopar/Launch/Yaml.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopar::launch {

/// A part of a manifest that starts an engine, maybe several copies of it.
struct ManifestUnit {
  int64_t copies = 1, nodes = 1;
  /// The devices that the pods of a node ask for; absent if they ask for none.
  std::optional<int64_t> devicesPerNode;
  std::string role, model;
  /// The name of the table of a unit that names no engine; "" if there is none.
  std::string engine;
  /// The settings for which the manifest has keys.
  Settings settings;
  /// The commands of the unit's containers; each begins with the image.
  std::vector<ShellCommand> commands;
};

/// Finds the units of a document by the forms in runtimes/manifests; returns
/// none if the document is no manifest. `name` is the name of the text, which
/// settings give as their origin. Fails if a number of copies, nodes or devices
/// is not a legal count.
Result<std::vector<ManifestUnit>> unitsOf(const YamlDocument &document,
                                          const std::string &name);

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_MANIFEST_H
