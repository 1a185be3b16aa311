//===- HardwareFiles.cpp - Paths of machines ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::session;
using namespace autopar::server;
using Json = nlohmann::ordered_json;

Answer autopar::server::listHardware(Session &session, const Call &call) {
  HardwareLibrary library;
  Json systems = Json::array(), chips = Json::array();
  for (const std::string &name : library.systemNames()) {
    Result<Machine> machine = library.machine(name);
    if (!machine)
      return machine.error();
    const auto &pool = machine->pools.front();
    systems.push_back({{"id", name},
                       {"href", "/hardware/" + name},
                       {"chip", pool.chip.name},
                       {"devices_per_node", pool.devicesPerNode}});
  }
  for (const std::string &name : library.chipNames())
    chips.push_back({{"id", name}, {"href", "/hardware/" + name}});
  return Json{{"systems", systems}, {"chips", chips}}.dump();
}

/// Answers with the file of the library, in which each figure has its source.
Answer autopar::server::showHardware(Session &session, const Call &call) {
  HardwareLibrary library;
  for (const auto &[folder, names] :
       {std::pair("systems", library.systemNames()),
        std::pair("chips", library.chipNames())})
    if (llvm::is_contained(names, call.id))
      return readFile(dataDirectory("hardware") + "/" + folder + "/" + call.id +
                      ".json");
  return Error{pathName,
               "no chip or system is called \"" + shorten(call.id) + "\"",
               "GET /hardware"};
}
