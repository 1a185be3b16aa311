//===- Deployment.cpp - Writers of deployments ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Report/Deployment.h"

#include "ReportJson.h"
#include "ServingText.h"
#include "autopar/Report/TextTables.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::report;
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

std::string autopar::report::writeJson(const DeploymentReport &deployment) {
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

static std::string linkText(const LinkReport &link) {
  TextTable table("lr");
  auto bytes = [&](const char *name, int64_t count) {
    table.add({name, formatBytes(count)});
  };
  bytes("KV cache", link.kvBytes);
  if (link.stateBytes > 0)
    bytes("states", link.stateBytes);
  bytes("sent by a device", link.bytesPerSourceDevice);
  bytes("received by a device", link.bytesPerDestinationDevice);
  table.add({"time", formatTime(link.timeUs)});
  return "\nLink " + link.from + " -> " + link.to + ", a request of " +
         formatInteger(link.contextLength) + " tokens\n" + table.str() +
         wrapText("  ", "Over " + link.tier + " of the " +
                            (link.destinationBound ? "destination" : "source") +
                            ": " + formatTime(link.latencyUs) +
                            " and what a device moves at " +
                            print("%.4g", link.bandwidthBytesPerS / 1e9) +
                            " GB/s.");
}

std::string autopar::report::writeText(const DeploymentReport &deployment) {
  std::string text;
  for (const auto &[name, report] : deployment.modules)
    text += "== " + name + " ==\n" + writeText(report) + "\n";
  text += deployment.links.empty() ? "" : "== links ==\n";
  for (const LinkReport &link : deployment.links)
    text += linkText(link);
  if (deployment.serving)
    text += "\n== service ==\n" + poolsText(*deployment.serving);
  return text;
}
