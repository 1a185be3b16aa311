//===- DeploymentJson.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonParts.h"

#include "autopar/Write/Json.h"

using namespace autopar;
using namespace autopar::report;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

static json writeLink(const LinkReport &link) {
  return {{"from", link.from},
          {"to", link.to},
          {"context_length", link.contextLength},
          {"kv_bytes_per_request", link.kvBytes},
          {"state_bytes_per_request", link.stateBytes},
          {"bytes_per_source_device", link.bytesPerSourceDevice},
          {"bytes_per_destination_device", link.bytesPerDestinationDevice},
          {"tier", link.tier},
          {"bound", link.destinationBound ? "destination" : "source"},
          {"bandwidth_bytes_per_s", link.bandwidthBytesPerS},
          {"latency_us", link.latencyUs},
          {"time_us", link.timeUs}};
}

std::string autopar::writing::writeJson(const DeploymentReport &deployment) {
  json root, modules = json::array(), links = json::array();
  for (const auto &[name, report] : deployment.modules)
    modules.push_back({{"name", name}, {"report", writeTree(report)}});
  for (const LinkReport &link : deployment.links)
    links.push_back(writeLink(link));
  root["schema"] = "autopar.deployment/1";
  root["model"] = deployment.model;
  root["modules"] = std::move(modules);
  root["links"] = std::move(links);
  if (deployment.serving)
    root["serving"] = writePools(*deployment.serving);
  return printJson(root);
}
