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

/// A part of a manifest that starts an engine, several times over.
struct ManifestUnit {
  int64_t copies = 1, nodes = 1;
  /// Devices of a node that its pods ask for; absent means that none do.
  std::optional<int64_t> devicesPerNode;
  std::string role, model;
  /// The table of a unit that names no engine; "" if there is none.
  std::string engine;
  /// Settings that the manifest has keys for.
  Settings settings;
  /// The commands of its containers, images first.
  std::vector<ShellCommand> commands;
};

/// Reads the forms of runtimes/manifests.
Result<JsonDocument> loadManifestForms();

/// Finds the units of a document by `forms`; none if it is no manifest. `name`
/// names the text in provenance. Errors: a count that is no number of copies,
/// nodes or devices.
Result<std::vector<ManifestUnit>> unitsOf(const JsonDocument &forms,
                                          const YamlDocument &document,
                                          const std::string &name);

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_MANIFEST_H
