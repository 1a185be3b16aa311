//===- NodeLinks.cpp - Links of a machine of a few lines ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeFields.h"

#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::hardware;
using nlohmann::json;

/// The share of a PCIe link's bandwidth that large messages reach if they go
/// through the host's memory. It was measured with nccl-tests on four L40S
/// without a switch (4.7 of 32 GB/s), as in hardware/systems/rtx-4090-8.json.
/// It can be lower: a pair of RTX 5070 Ti reached 1.9 of 32 GB/s
/// (sgl-project/sglang pull request 39605).
static constexpr double throughHost = 0.148;
/// The share of a PCIe link's bandwidth that large messages reach if devices
/// write to each other: that of eight devices in the fit of
/// hardware/systems/l40s-8.json.
static constexpr double overSwitches = 0.437;

static double valueOf(const json &figure) {
  return figure.at("value").get<double>();
}

/// Returns the latency in us per hop of a tree: the time of the smallest
/// measured all-reduce, less the transfer of its bytes, over the hops. The bus
/// bandwidth (busbw) is 2 (n-1)/n bytes over the time (nccl-tests,
/// doc/PERFORMANCE.md).
static double latencyOf(const LinkFields &links, double devices,
                        double bytesPerUs) {
  const auto &[bytes, busGb] = *links.busBandwidth.begin();
  double sent = 2 * (devices - 1) / devices * static_cast<double>(bytes);
  double us = sent / (busGb * 1e3) - sent / bytesPerUs;
  return std::max(us, 0.0) / std::ceil(std::log2(devices));
}

/// Sets the efficiency of a tier by the path between devices (`arePeers`: they
/// write to each other directly). It is at least that of measured links with
/// direct writes, or at most that of measured links through the host's memory.
static std::string writePeers(bool arePeers, json &tier) {
  double own = valueOf(tier["efficiency"]);
  double reached =
      arePeers ? std::max(own, overSwitches) : std::min(own, throughHost);
  std::string why = arePeers ? "devices that write to each other over PCIe"
                             : "devices that reach each other through the "
                               "host's memory";
  if (reached != own)
    tier["efficiency"] = {
        {"value", reached},
        {"unit", "1"},
        {"source", {{"kind", "derived"}, {"reference", "as L40S: " + why}}}};
  return "efficiency " + formatNumber(reached) + " is that of " + why;
}

std::string autopar::hardware::writeLinkFields(const NodeFields &fields,
                                               const json &given,
                                               const std::string &base,
                                               json &tier) {
  const LinkFields &links = fields.links;
  tier.erase("collectives");
  auto set = [&](const char *key, double value, const char *unit) {
    tier[key] = {{"value", value}, {"unit", unit}, {"source", given}};
  };
  double bandwidth = valueOf(tier["bandwidth"]);
  std::string taken;
  if (links.efficiency)
    set("efficiency", *links.efficiency, "1");
  else if (!links.busBandwidth.empty())
    set("efficiency",
        std::min(links.busBandwidth.rbegin()->second * 1e9 / bandwidth, 1.0),
        "1");
  else if (links.peerToPeer)
    taken = writePeers(*links.peerToPeer, tier);
  else
    taken = "efficiency " + formatNumber(valueOf(tier["efficiency"])) +
            " is that of " + base;
  if (links.latency)
    set("latency", *links.latency, "us");
  else if (links.busBandwidth.size() > 1)
    set("latency",
        latencyOf(links, static_cast<double>(fields.devices),
                  bandwidth * valueOf(tier["efficiency"]) / 1e6),
        "us");
  else
    taken += (taken.empty() ? "latency " : ", latency ") +
             formatNumber(valueOf(tier["latency"])) + " us that of " + base;
  return taken.empty() ? "" : "of links, " + taken;
}
