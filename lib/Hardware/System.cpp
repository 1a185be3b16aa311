//===- System.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <cstdlib>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;

static CollectiveCurve readCurve(const JsonReader &reader) {
  CollectiveCurve curve;
  reader.allowOnly({"first_log2_bytes", "time_us", "source"});
  curve.firstLog2Bytes =
      static_cast<int>(reader.integer("first_log2_bytes", 0, 62));
  JsonReader times = reader.array("time_us");
  for (const JsonReader &time : times.elements())
    curve.timeUs.push_back(time.asNumber(leastTimeUs, 1e12));
  if (!reader.failed() && curve.timeUs.empty())
    times.fail("expected at least one time, found none");
  curve.source = readSource(reader);
  return curve;
}

/// Returns the integer that `text` spells in decimal; 0 if it spells none.
static int64_t groupSize(const std::string &text) {
  char *end = nullptr;
  int64_t size = std::strtoll(text.c_str(), &end, 10);
  return *end || std::to_string(size) != text ? 0 : size;
}

static void readCollectives(const JsonReader &reader, const Tier &tier,
                            CollectiveCurves &curves) {
  int64_t most = tier.domain ? tier.domain : limits::maxDevices;
  for (const auto &[name, groups] : reader.members()) {
    std::optional<CollectiveKind> kind = measuredKind(name);
    if (!kind)
      return groups.fail("unknown collective \"" + shorten(name) + "\"",
                         "known: " + std::string(measuredKinds));
    if (!groups.isObject())
      return groups.fail("expected an object of curves by group size");
    for (const auto &[key, curve] : groups.members()) {
      int64_t size = groupSize(key);
      if (size < 2 || size > most)
        return curve.fail(
            "expected a number of devices from 2 to " + std::to_string(most) +
            ", the tier's domain, found \"" + shorten(key) + "\"");
      curves[*kind][size] = readCurve(curve);
    }
  }
}

/// Reads a number of devices. Returns 0 (no limit) if the member is "nodes" or
/// absent.
static int64_t readDomain(const JsonReader &reader) {
  if (!reader.has("domain"))
    return 0;
  JsonReader domain = reader.member("domain");
  if (domain.isString()) {
    if (domain.asString() != "nodes")
      domain.fail("expected a number of devices or \"nodes\", found \"" +
                  shorten(domain.asString()) + "\"");
    return 0;
  }
  return domain.asInteger(1, limits::maxDevices);
}

static Tier readTier(const JsonReader &reader, const std::string &path) {
  Tier tier;
  reader.allowOnly({"name", "domain", "bandwidth", "efficiency", "latency",
                    "algorithms", "collectives", "implementations"});
  tier.name = reader.string("name");
  tier.domain = readDomain(reader);
  std::string inner = path + ".tiers." + tier.name;
  tier.bandwidth =
      readFigure(reader, "bandwidth", units::bytesPerSecond, inner);
  tier.efficiency = readFigure(reader, "efficiency", units::fraction, inner);
  tier.latency = readFigure(reader, "latency", units::microseconds, inner);
  if (reader.has("algorithms"))
    for (const JsonReader &one : reader.array("algorithms").elements())
      tier.algorithms.push_back(readAlgorithm(one));
  if (reader.has("collectives"))
    readCollectives(reader.object("collectives"), tier, tier.curves);
  if (reader.has("implementations"))
    for (const auto &[name, curves] :
         reader.object("implementations").members())
      readCollectives(curves, tier, tier.implementations[name]);
  if (!reader.failed())
    scaleCurves(tier);
  return tier;
}

/// Checks that each tier is wider than the one before, that the first tier
/// covers several devices, and that the tiers together reach all devices of a
/// node.
static void checkTiers(const JsonReader &reader, System &system) {
  std::vector<JsonReader> elements = reader.elements();
  if (elements.empty())
    return reader.fail("expected at least one tier, found none");
  int64_t below = 1;
  for (size_t i = 0; i < elements.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (system.tiers[i].name == system.tiers[j].name)
        return elements[i].failAt("name", "another tier has the name \"" +
                                              shorten(system.tiers[i].name) +
                                              "\"");
    int64_t domain = system.tiers[i].domain;
    bool last = i + 1 == elements.size();
    if (domain == 0 && last) {
      system.connectsNodes = true;
      return;
    }
    if (domain == 0)
      return elements[i].fail("only the last tier may have no domain");
    if (domain <= below && i > 0)
      return elements[i].failAt(
          "domain", "expected more than the " + std::to_string(below) +
                        " devices of the tier before, found " +
                        std::to_string(domain));
    if (domain % below)
      return elements[i].failAt(
          "domain", "expected a multiple of " + std::to_string(below) +
                        ", found " + std::to_string(domain));
    below = domain;
  }
  if (below < system.devicesPerNode)
    reader.fail("the widest tier reaches " + std::to_string(below) + " of " +
                std::to_string(system.devicesPerNode) + " devices of a node");
}

System autopar::hardware::readSystem(const JsonReader &reader) {
  System system;
  reader.allowOnly({"schema", "name", "title", "source", "chip",
                    "devices_per_node", "tiers", "price"});
  checkSchema(reader, "autopar.system/1");
  system.name = readName(reader);
  system.title = reader.string("title");
  system.chip = reader.string("chip");
  system.devicesPerNode =
      reader.integer("devices_per_node", 1, limits::maxDevices);
  system.price = readOptionalFigure(reader, "price", units::dollarsPerHour,
                                    "systems." + system.name);
  JsonReader tiers = reader.array("tiers");
  for (const JsonReader &tier : tiers.elements())
    system.tiers.push_back(readTier(tier, "systems." + system.name));
  if (!reader.failed())
    checkTiers(tiers, system);
  return system;
}
