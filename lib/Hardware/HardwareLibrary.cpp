//===- HardwareLibrary.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;

int64_t Machine::devices() const {
  int64_t total = 0;
  for (const Pool &pool : pools)
    total += pool.devices();
  return total;
}

HardwareLibrary::HardwareLibrary(std::vector<Override> given)
    : overrides(std::move(given)), used(overrides.size()),
      directory(dataDirectory("hardware")) {}

std::vector<std::string> HardwareLibrary::chipNames() const {
  return namesIn(directory + "/chips");
}

std::vector<std::string> HardwareLibrary::systemNames() const {
  return namesIn(directory + "/systems");
}

/// Reads `file` with `read` after applying the overrides that its "name"
/// selects. `library`: the file is one of ours.
template <typename T>
static Result<T> load(const std::string &file, const std::string &root,
                      bool library, T (*read)(const JsonReader &),
                      const std::vector<Override> &overrides,
                      std::vector<bool> &used) {
  Result<JsonDocument> document = JsonDocument::readFile(file);
  if (!document)
    return document.error();
  JsonReader head = document->reader();
  std::string name = readName(head);
  if (library)
    checkFileName(head, name, file);
  if (head.failed())
    return head.takeError();
  std::string prefix = root + "." + name;
  if (auto error = applyOverrides(*document, prefix, overrides, used))
    return *error;
  JsonReader reader = document->reader();
  T value = read(reader);
  if (reader.failed())
    return explainOverrides(reader.takeError(), prefix, overrides);
  return value;
}

Result<Chip> HardwareLibrary::chip(const std::string &nameOrPath) const {
  Result<std::string> file =
      locateFile(nameOrPath, directory + "/chips", "chip");
  if (!file)
    return file.error();
  return load<Chip>(*file, "chips", !isPath(nameOrPath), readChip, overrides,
                    used);
}

/// What a system's field "chip" means: a name of the library, a path from the
/// system's own folder, or the name of a file in that folder.
static std::string resolveChip(const std::string &chip,
                               const std::string &systemFile,
                               const std::string &directory) {
  size_t slash = systemFile.rfind('/');
  std::string folder =
      slash == std::string::npos ? "./" : systemFile.substr(0, slash + 1);
  if (isPath(chip))
    return chip[0] == '/' ? chip : folder + chip;
  if (isInLibrary(chip, directory))
    return chip;
  std::string beside = folder + chip + ".json";
  return fileExists(beside) ? beside : chip;
}

/// Why `system` cannot have `nodes` nodes, if so.
static std::optional<Error> checkNodes(const System &system, int64_t nodes) {
  if (nodes < 1)
    return Error{"", "expected at least 1 node, found " + std::to_string(nodes),
                 ""};
  if (nodes > limits::maxDevices / system.devicesPerNode)
    return Error{"",
                 std::to_string(nodes) + " nodes of " +
                     std::to_string(system.devicesPerNode) +
                     " devices are more than " +
                     std::to_string(limits::maxDevices) + " devices",
                 ""};
  int64_t devices = nodes * system.devicesPerNode;
  int64_t reach = system.tiers.back().domain;
  if (nodes > 1 && !system.connectsNodes && reach < devices)
    return Error{"",
                 "system \"" + system.name +
                     "\" has no tier between "
                     "nodes: its widest reaches " +
                     std::to_string(reach) + " devices, " +
                     std::to_string(nodes) + " nodes have " +
                     std::to_string(devices),
                 "use 1 node, or a system file whose last tier has the "
                 "domain \"nodes\""};
  return std::nullopt;
}

Result<Machine> HardwareLibrary::machine(const std::string &nameOrPath,
                                         int64_t nodes) const {
  Result<std::string> file =
      locateFile(nameOrPath, directory + "/systems", "system");
  if (!file)
    return file.error();
  Result<System> system = load<System>(*file, "systems", !isPath(nameOrPath),
                                       readSystem, overrides, used);
  if (!system)
    return system.error();
  if (auto error = checkNodes(*system, nodes))
    return *error;
  Result<Chip> found =
      chip(resolveChip(system->chip, *file, directory + "/chips"));
  if (!found) {
    Error error = found.error();
    if (error.where.empty() && error.message.compare(0, 8, "override") != 0)
      error.where = *file + ": /chip";
    return error;
  }
  Pool pool;
  pool.chip = std::move(*found);
  pool.devicesPerNode = system->devicesPerNode;
  pool.nodes = nodes;
  pool.tiers = std::move(system->tiers);
  if (system->connectsNodes)
    pool.tiers.back().domain = pool.devices();
  Machine machine;
  machine.name = system->name;
  machine.title = system->title;
  machine.pools.push_back(std::move(pool));
  return machine;
}

std::optional<Error> HardwareLibrary::unusedOverride() const {
  if (overrides.empty())
    return std::nullopt;
  std::vector<std::string> known;
  for (const std::string &name : chipNames())
    known.push_back("chips." + name);
  for (const std::string &name : systemNames())
    known.push_back("systems." + name);
  for (size_t i = 0; i < overrides.size(); ++i) {
    const std::string &path = overrides[i].path;
    if (used[i] || path.compare(0, 9, "runtimes.") == 0)
      continue;
    size_t dot = path.find('.', path.find('.') + 1);
    std::string owner = path.substr(0, dot);
    for (const std::string &name : known)
      if (name == owner)
        return Error{"",
                     "override \"" + shorten(path) + "\" has no effect: " +
                         owner + " is not part of this machine",
                     ""};
    std::string near = nearest(owner, known);
    return Error{"",
                 "override path \"" + shorten(path) +
                     "\" names no chip or system that was read",
                 near.empty() ? "paths start with chips.<name>. or "
                                "systems.<name>."
                              : "did you mean \"" + near + "\"?"};
  }
  return std::nullopt;
}
