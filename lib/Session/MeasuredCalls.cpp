//===- MeasuredCalls.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeasuredCalls.h"
#include "RowPredictor.h"

#include "autopar/Cost/Route.h"
#include "autopar/Hardware/Hardware.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <map>

using namespace autopar;
using namespace autopar::calibration;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::session;
using namespace autopar::validation;

/// The most devices of a call; a count above it is a misread number.
static constexpr int64_t mostDevices = 1 << 20;

/// Returns the collective that nccl-tests calls `name`: "all_reduce",
/// "all_reduce_perf", "AllReduce", "alltoall", "sendrecv". Returns nothing for
/// one that has no price.
static std::optional<CollectiveKind> kindOf(const std::string &name) {
  std::string letters;
  for (char letter : lower(name))
    if (letter != '_' && letter != '-')
      letters += letter;
  if (size_t end = letters.rfind("perf"); end != letters.npos)
    letters.erase(end);
  static const std::map<std::string, CollectiveKind> kinds = {
      {"allreduce", CollectiveKind::all_reduce},
      {"allgather", CollectiveKind::all_gather},
      {"reducescatter", CollectiveKind::reduce_scatter},
      {"alltoall", CollectiveKind::all_to_all},
      {"sendrecv", CollectiveKind::permute},
  };
  auto found = kinds.find(letters);
  return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the call that a run timed; nothing for a run that is left out.
static Result<std::optional<MeasuredCall>> callOf(const MeasuredRun &run,
                                                  const StatedFacts &stated,
                                                  const SystemNames &systems) {
  std::string hardware = factOf(run, stated, "hardware");
  if (hardware.empty())
    return lacksFact(run, "hardware", "--hardware");
  ResolvedName system = systems.find(hardware);
  if (!system)
    return Error{run.where, "unknown system \"" + shorten(hardware) + "\"",
                 "a calibration is of a system of the library: `autopar "
                 "hardware list` names them"};
  std::string collective = factOf(run, stated, "collective");
  if (collective.empty())
    return lacksFact(run, "collective", "--fact=collective=all_reduce");
  std::string devicesText = factOf(run, stated, "devices", true);
  if (devicesText.empty())
    return lacksFact(run, "devices", "--fact=devices=8");
  std::optional<int64_t> devices = parseCount(devicesText);
  if (!devices || *devices < 2 || *devices > mostDevices)
    return Error{run.where,
                 "has a collective of " + shorten(devicesText) + " devices",
                 "expected 2 to " + std::to_string(mostDevices)};
  std::optional<CollectiveKind> kind = kindOf(collective);
  double bytes = run.number("bytes").value_or(0);
  double timeUs = run.number("call_us").value_or(0);
  if (!kind || bytes <= 0 || timeUs <= 0)
    return std::optional<MeasuredCall>();
  return std::optional(
      MeasuredCall{run.where, system.name, *kind, *devices, bytes, timeUs});
}

Result<std::vector<MeasuredCall>>
session::measuredCalls(const std::vector<MeasuredFile> &files,
                       const StatedFacts &stated) {
  Result<SystemNames> systems = readSystemNames();
  if (!systems)
    return systems.error();
  std::vector<MeasuredCall> calls;
  for (const MeasuredFile &file : files) {
    if (file.kind != "collective")
      continue;
    for (const MeasuredRun &run : file.runs) {
      Result<std::optional<MeasuredCall>> call = callOf(run, stated, *systems);
      if (!call)
        return call.error();
      if (*call)
        calls.push_back(std::move(**call));
    }
  }
  return calls;
}

/// Returns the machine of the fewest nodes of `system` that has `devices`.
static Result<Machine> machineFor(const HardwareLibrary &library,
                                  const std::string &system, int64_t devices) {
  Result<Machine> node = library.machine(system);
  if (!node || node->devices() >= devices)
    return node;
  return library.machine(system,
                         (devices + node->devices() - 1) / node->devices());
}

Result<std::vector<std::optional<double>>>
session::predictCalls(const std::vector<MeasuredCall> &calls,
                      const std::vector<std::string> &overrides) {
  Result<std::vector<Override>> figures = parseOverrides(overrides);
  if (!figures)
    return figures.error();
  HardwareLibrary library(std::move(*figures));
  std::map<std::pair<std::string, int64_t>, Machine> machines;
  std::vector<std::optional<double>> times;
  for (const MeasuredCall &call : calls) {
    auto key = std::pair(call.system, call.devices);
    auto found = machines.find(key);
    if (found == machines.end()) {
      Result<Machine> machine = machineFor(library, call.system, call.devices);
      if (!machine)
        return Error{call.where, machine.error().str(), ""};
      found = machines.emplace(key, std::move(*machine)).first;
    }
    Network network(found->second.pools.front(), call.devices);
    Route route = network.route(call.kind, {{1, call.devices}}, false);
    times.push_back(route.tier ? std::optional(timeOf(route, call.bytes))
                               : std::nullopt);
  }
  return times;
}
