//===- HardwareLibrary.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::hardware;

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

/// Reads `document` with the function `read`, after it has applied the
/// overrides for the "name" of the document.
template <typename T>
static Result<T> load(JsonDocument &document, const std::string &root,
                      T (*read)(const JsonReader &),
                      const std::vector<Override> &overrides,
                      std::vector<bool> &used) {
  JsonReader head = document.reader();
  std::string prefix = root + "." + readName(head);
  if (head.failed())
    return head.takeError();
  spreadSource(document);
  if (auto error = applyOverrides(document, prefix, overrides, used))
    return *error;
  JsonReader reader = document.reader();
  T value = read(reader);
  if (reader.failed())
    return explainOverrides(reader.takeError(), prefix, overrides);
  return value;
}

/// Opens a file; `library` says whether the file belongs to the hardware
/// library.
static Result<JsonDocument> open(const std::string &file, bool library) {
  Result<JsonDocument> document = JsonDocument::readFile(file);
  if (!document || !library)
    return document;
  JsonReader head = document->reader();
  checkFileName(head, readName(head), file);
  if (head.failed())
    return head.takeError();
  return document;
}

Result<Chip> HardwareLibrary::chip(const std::string &nameOrPath) const {
  Result<std::string> file =
      locateFile(nameOrPath, directory + "/chips", "chip");
  if (!file)
    return file.error();
  Result<JsonDocument> document = open(*file, !isPath(nameOrPath));
  if (!document)
    return document.error();
  return load<Chip>(*document, "chips", readChip, overrides, used);
}

std::vector<std::string>
HardwareLibrary::fitting(const std::string &text) const {
  std::vector<std::string> names = chipNames();
  for (std::string &name : systemNames())
    names.push_back(std::move(name));
  return namesWithWords(text, names);
}

/// Resolves a system's field "chip" to a file. The field may be a name in the
/// library, a path relative to the system's folder, or the name of a file in
/// that folder.
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

/// Returns the reason why `system` cannot have `nodes` nodes; nothing if it
/// can.
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

Result<Machine> HardwareLibrary::makeMachine(System system, Chip chip,
                                             int64_t nodes) const {
  auto spreads = readSpreads(chip, directory);
  if (!spreads)
    return spreads.error();
  Pool pool;
  pool.chip = std::move(chip);
  pool.devicesPerNode = system.devicesPerNode;
  pool.nodes = nodes;
  pool.tiers = std::move(system.tiers);
  if (system.connectsNodes)
    pool.tiers.back().domain = pool.devices();
  Machine machine;
  machine.name = system.name;
  machine.title = system.title;
  machine.pools.push_back(std::move(pool));
  machine.price = std::move(system.price);
  machine.spreads = std::move(*spreads);
  return machine;
}

Result<Machine> HardwareLibrary::nodeMachine(const JsonDocument &document,
                                             int64_t nodes) const {
  Result<ExpandedNode> node = expandNode(document, *this, directory);
  if (!node)
    return node.error();
  Result<System> system =
      load<System>(node->system, "systems", readSystem, overrides, used);
  if (!system)
    return system.error();
  if (auto error = checkNodes(*system, nodes))
    return *error;
  Result<Chip> found =
      load<Chip>(node->chip, "chips", readChip, overrides, used);
  if (!found)
    return found.error();
  Result<Machine> machine =
      makeMachine(std::move(*system), std::move(*found), nodes);
  if (machine)
    machine->derived = std::move(node->derived);
  return machine;
}

Result<Machine> HardwareLibrary::machine(const std::string &nameOrPath,
                                         int64_t nodes) const {
  std::string folder = directory + "/systems";
  if (!isPath(nameOrPath) && !isInLibrary(nameOrPath, folder)) {
    Result<std::optional<TakenName>> taken =
        takeName(nameOrPath, directory, systemNames());
    if (!taken)
      return taken.error();
    if (*taken) {
      Result<Machine> named = machine((*taken)->system, nodes);
      if (named)
        named->taken = std::move(*taken);
      return named;
    }
    if (std::vector<std::string> systems = systemNames(); !systems.empty())
      return unknownSystem(nameOrPath, directory, systems);
  }
  Result<std::string> file = locateFile(nameOrPath, folder, "system");
  if (!file)
    return file.error();
  Result<JsonDocument> document = open(*file, !isPath(nameOrPath));
  if (!document)
    return document.error();
  if (isNode(*document))
    return nodeMachine(*document, nodes);
  Result<System> system =
      load<System>(*document, "systems", readSystem, overrides, used);
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
  return makeMachine(std::move(*system), std::move(*found), nodes);
}

std::optional<Error>
HardwareLibrary::unusedOverride(const std::set<std::string> &elsewhere) const {
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
    std::string owner = ownerOf(overrides[i]);
    if (elsewhere.count(owner))
      continue;
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
                              : askWhether(near)};
  }
  return std::nullopt;
}
