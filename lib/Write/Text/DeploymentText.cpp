//===- DeploymentText.cpp - Writers of deployments ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Text.h"

#include "TextParts.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"

using namespace autopar;
using namespace autopar::report;
using namespace autopar::writing;

static std::string linkText(const LinkReport &link) {
  TextTable table("lr");
  auto bytes = [&](const char *name, int64_t count) {
    table.add({name, formatBytes(count)});
  };
  bytes("KV cache", link.kvBytes);
  if (link.stateBytes > 0)
    bytes("states", link.stateBytes);
  bytes("sent per device", link.bytesPerSourceDevice);
  bytes("received per device", link.bytesPerDestinationDevice);
  table.add({"time", formatTime(link.timeUs)});
  return "\nLink " + link.from + " -> " + link.to + ", a request of " +
         formatInteger(link.contextLength) + " tokens\n" + table.str() +
         wrapText("  ", "Over " + link.tier + " of the " +
                            (link.destinationBound ? "destination" : "source") +
                            ": " + formatTime(link.latencyUs) + " latency, " +
                            print("%.4g", link.bandwidthBytesPerS / 1e9) +
                            " GB/s per device.");
}

std::string autopar::writing::writeText(const DeploymentReport &deployment) {
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
