//===- NodeFields.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeFields.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::hardware;

namespace {

/// A number in the file: its key, its limits and an example.
struct Quantity {
  const char *key;
  double min, max;
  const char *example;
};

constexpr Quantity memory{"memory_gib", 0.01, 1e5,
                          "in GiB of one device, as on its label: 24"};
constexpr Quantity bandwidth{"bandwidth_gb_s", 1, 1e6,
                             "in GB/s of one device's memory: 936"};
constexpr Quantity peak{"peak_tflops", 0.01, 1e6,
                        "in TFLOP/s of dense 16-bit products: 71; or "
                        "{\"bf16\": 71, \"fp8\": 142}"};
constexpr Quantity link{"link_gb_s", 0.01, 1e5,
                        "in GB/s of one device, one direction: 32 for PCIe 4 "
                        "x16, 450 for NVLink 4"};
constexpr Quantity betweenNodes{"between_nodes_gb_s", 0.001, 1e5,
                                "in GB/s of one device, one direction: 50 for "
                                "400 Gb/s"};
constexpr Quantity linkEfficiency{"link_efficiency", 0.001, 1,
                                  "the share of link_gb_s that large messages "
                                  "reach: 0.6"};
constexpr Quantity linkLatency{"link_latency_us", 0, 1e4,
                               "in us of one hop: a collective of two devices "
                               "and few bytes: 5"};
constexpr Quantity busBandwidth{"bus_bandwidth_gb_s", 0.001, 1e5,
                                "busbw of nccl-tests in GB/s, of a large "
                                "all-reduce: 19.4; or by bytes: {\"16384\": "
                                "1.5, \"268435456\": 19.4}"};
constexpr Quantity outerEfficiency{"between_nodes_efficiency", 0.001, 1,
                                   "the share of between_nodes_gb_s that large "
                                   "messages reach: 0.8"};
constexpr Quantity outerLatency{"between_nodes_latency_us", 0, 1e4,
                                "in us of one hop: 10 for InfiniBand, 60 for "
                                "EFA"};
constexpr Quantity power{"power_w", 0, 1e6, "in W of one board: 350"};
constexpr Quantity idlePower{"idle_power_w", 0, 1e6,
                             "in W of one board that waits: 30"};
constexpr Quantity price{"price_usd_per_hour", 0, 1e6,
                         "in USD an hour for one device: 0.4"};

constexpr const char *formats[] = {"bf16", "fp16", "fp8", "fp32",
                                   "tf32", "int8", "fp4"};

std::optional<double> read(const JsonReader &reader, const Quantity &quantity) {
  if (!reader.has(quantity.key))
    return std::nullopt;
  JsonReader member = reader.member(quantity.key);
  double value = member.isNumber() ? member.toJson().get<double>() : -1;
  if (value >= quantity.min && value <= quantity.max)
    return value;
  reader.failAt(quantity.key,
                "expected a number from " + formatNumber(quantity.min) +
                    " to " + formatNumber(quantity.max) + ", found " +
                    shorten(member.toJson().dump()),
                quantity.example);
  return std::nullopt;
}

/// Reads the peaks. A single number is the peak of the 16-bit formats.
void readPeaks(const JsonReader &reader, NodeFields &fields) {
  if (!reader.has(peak.key))
    return;
  JsonReader member = reader.member(peak.key);
  if (!member.isObject()) {
    if (std::optional<double> value = read(reader, peak))
      fields.peaks = {{"bf16", *value}, {"fp16", *value}};
    return;
  }
  member.allowOnly({std::begin(formats), std::end(formats)});
  for (const auto &[format, entry] : member.members()) {
    Quantity one = peak;
    one.key = format.c_str();
    if (std::optional<double> value = read(member, one))
      fields.peaks[format] = *value;
  }
  for (auto [has, lacks] :
       {std::pair("bf16", "fp16"), std::pair("fp16", "bf16")})
    if (fields.peaks.count(has))
      fields.peaks.emplace(lacks, fields.peaks[has]);
  if (!reader.failed() && !fields.peaks.count("bf16"))
    member.fail("has neither bf16 nor fp16, on which the rest rests",
                peak.example);
}

/// Derives a name from the path of a file: "two-3090" from "~/machines/Two
/// 3090.json".
std::string nameFrom(const std::string &file) {
  std::string stem = file.substr(file.rfind('/') + 1);
  std::string name = lower(stem.substr(0, stem.rfind(".json")));
  for (char &c : name)
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9'))
      c = '-';
  return name.empty() ? "node" : name;
}

/// Reads the bus bandwidth. A single number is the bandwidth of large messages.
void readBusBandwidth(const JsonReader &reader, LinkFields &links) {
  if (!reader.has(busBandwidth.key))
    return;
  JsonReader member = reader.member(busBandwidth.key);
  if (!member.isObject()) {
    if (std::optional<double> value = read(reader, busBandwidth))
      links.busBandwidth[0] = *value;
    return;
  }
  for (const auto &[bytes, entry] : member.members()) {
    bool isSize = !bytes.empty() && bytes.size() <= 15 && bytes[0] != '0' &&
                  bytes.find_first_not_of("0123456789") == std::string::npos;
    if (!isSize)
      return member.fail("expected bytes of an all-reduce, found \"" +
                             shorten(bytes) + "\"",
                         busBandwidth.example);
    Quantity one = busBandwidth;
    one.key = bytes.c_str();
    if (std::optional<double> value = read(member, one))
      links.busBandwidth[std::stoll(bytes)] = *value;
  }
}

void readLinks(const JsonReader &reader, NodeFields &fields) {
  LinkFields &links = fields.links;
  links.efficiency = read(reader, linkEfficiency);
  links.latency = read(reader, linkLatency);
  links.outerEfficiency = read(reader, outerEfficiency);
  links.outerLatency = read(reader, outerLatency);
  readBusBandwidth(reader, links);
  if (reader.has("peer_to_peer"))
    links.peerToPeer = reader.boolean("peer_to_peer");
  if (reader.failed())
    return;
  if (links.efficiency && !links.busBandwidth.empty())
    return reader.failAt(busBandwidth.key,
                         "stands beside link_efficiency, which it gives",
                         "leave one of them out");
  if (links.peerToPeer && (links.efficiency || !links.busBandwidth.empty()))
    return reader.failAt("peer_to_peer",
                         "stands beside a measured efficiency, which has it",
                         "leave it out");
  bool isAlone = fields.devices == 1 && (fields.count || !fields.like);
  if (links.saysInner() && isAlone)
    return reader.fail("says how devices of a node are linked, and has one",
                       "give \"devices\"");
  if ((links.outerEfficiency || links.outerLatency) && !fields.betweenNodes &&
      !fields.like)
    reader.fail("says how nodes are linked, and has one",
                "give \"between_nodes_gb_s\"");
}

void readSourceOf(const JsonReader &reader, const std::string &file,
                  NodeFields &fields) {
  fields.source = {"user", file};
  if (!reader.has("source"))
    return;
  if (reader.member("source").isString())
    fields.source.reference = reader.string("source");
  else
    fields.source = readSource(reader);
}

/// Checks that all fields are there that cannot be derived.
void checkComplete(const JsonReader &reader, const NodeFields &fields) {
  auto need = [&](const Quantity &quantity, bool given) {
    if (!given && !reader.failed())
      reader.fail("missing field \"" + std::string(quantity.key) + "\"",
                  std::string(quantity.example) +
                      "; or give \"like\", a chip that has it");
  };
  if (!fields.like) {
    need(memory, fields.memory.has_value());
    need(bandwidth, fields.bandwidth.has_value());
    need(peak, !fields.peaks.empty());
    need(link, fields.link || fields.devices == 1);
  }
}

} // namespace

Result<NodeFields> autopar::hardware::readNode(const JsonDocument &document) {
  JsonReader reader = document.reader();
  NodeFields fields;
  reader.allowOnly({"schema",         "name",
                    "title",          "source",
                    "like",           "devices",
                    memory.key,       bandwidth.key,
                    peak.key,         link.key,
                    betweenNodes.key, linkEfficiency.key,
                    linkLatency.key,  busBandwidth.key,
                    "peer_to_peer",   outerEfficiency.key,
                    outerLatency.key, power.key,
                    idlePower.key,    price.key});
  fields.name =
      reader.has("name") ? readName(reader) : nameFrom(document.name());
  fields.title = reader.optionalString("title").value_or(fields.name);
  readSourceOf(reader, document.name(), fields);
  fields.like = reader.optionalString("like");
  fields.memory = read(reader, memory);
  fields.bandwidth = read(reader, bandwidth);
  readPeaks(reader, fields);
  fields.link = read(reader, link);
  fields.betweenNodes = read(reader, betweenNodes);
  fields.power = read(reader, power);
  fields.idlePower = read(reader, idlePower);
  fields.price = read(reader, price);
  fields.count = reader.has("devices");
  fields.devices =
      reader.optionalInteger("devices", 1, limits::maxDevices).value_or(1);
  readLinks(reader, fields);
  checkComplete(reader, fields);
  if (reader.failed())
    return reader.takeError();
  return fields;
}
