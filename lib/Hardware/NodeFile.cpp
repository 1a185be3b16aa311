//===- NodeFile.cpp - A machine in a few lines: autopar.node/1 ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A user knows memory, bandwidth, peak and links of a machine. The library adds
// the rest: kernel curves, which are shares of peak and bandwidth, from the
// chip that the file names, or from the measured one with the nearest peak and
// bandwidth; efficiency and latency of links from the system with that chip, or
// else from the one with the nearest links. The result is a complete chip file
// and a complete system file.
//
//===----------------------------------------------------------------------===//

#include "NodeFields.h"
#include "ShapeTable.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::hardware;
using nlohmann::json;

Error autopar::hardware::unknownBase(const HardwareLibrary &library,
                                     const std::string &name,
                                     std::string where) {
  std::vector<std::string> chips = library.chipNames(),
                           hints = library.fitting(name);
  std::string near = nearest(name, chips);
  if (hints.empty() && !near.empty())
    hints = {near};
  return {std::move(where),
          "no chip and no system is called \"" + shorten(name) + "\"",
          "these would work: " + join(hints.empty() ? chips : hints, ", ")};
}

bool autopar::hardware::isNode(const JsonDocument &document) {
  JsonReader root = document.reader();
  if (root.has("schema"))
    return root.member("schema").toJson() == nodeSchema;
  return root.has("memory_gib") || root.has("like");
}

namespace {

double valueOf(const json &figure) { return figure.at("value").get<double>(); }

/// Returns the distance of two figures: the absolute value of the logarithm of
/// their ratio.
double distance(double a, double b) { return std::abs(std::log(a / b)); }

/// Returns the text of a ratio, such as "0.20x".
std::string times(double value, double base) {
  double ratio = value / base;
  return formatNumber(std::round(ratio * 100) / 100) + "x";
}

Source derivedFrom(std::string text) { return {"derived", std::move(text)}; }

json write(const Source &source) {
  return {{"kind", source.kind}, {"reference", source.reference}};
}

bool isTableOfShapes(const std::string &key) {
  return std::count(std::begin(shapeKeys), std::end(shapeKeys), key) != 0;
}

/// Sets the source of all figures and curves below `value`. Borrowed curves
/// lose their fit and, unless the file named the chip (`named`), their tables.
void setSources(json &value, const json &source, bool named) {
  if (value.is_object() && value.contains("source"))
    value["source"] = source;
  if (value.is_object()) {
    value.erase("fit");
    for (const char *key : shapeKeys)
      if (!named)
        value.erase(key);
  }
  if (!value.is_structured())
    return;
  for (auto &[key, inside] : value.items())
    if (!isTableOfShapes(key))
      setSources(inside, source, named);
}

/// A chip or a system of the library, as its file has it.
struct LibraryFile {
  std::string name;
  json root;
};

/// Writes the chip file and the system file of a node.
class NodeExpander {
public:
  NodeExpander(const JsonDocument &document, const HardwareLibrary &library,
               const std::string &directory)
      : document(document), library(library), directory(directory) {}

  Result<ExpandedNode> run();

private:
  Result<LibraryFile> read(const char *folder, const std::string &name) const;
  std::optional<Error> findBases();
  std::optional<Error> findNamed(const std::string &like);
  std::optional<Error> findNearestChip();
  std::optional<Error> findLinks();
  void set(json &root, const char *key, std::optional<double> value,
           const char *unit);
  void writeChip();
  void writePeaks(json &root);
  void writeSystem();
  void writeLinks(json &tier);
  void takeOver(const std::string &what) {
    taken += (taken.empty() || what.empty() ? "" : "; ") + what;
  }

  const JsonDocument &document;
  const HardwareLibrary &library;
  const std::string &directory;
  NodeFields fields;
  LibraryFile chip, system;
  bool isNamed = false;
  std::string taken;
};

} // namespace

//===----------------------------------------------------------------------===//
// Chips and systems that figures are borrowed from
//===----------------------------------------------------------------------===//

/// Reads a file of the library.
Result<LibraryFile> NodeExpander::read(const char *folder,
                                       const std::string &name) const {
  Result<JsonDocument> found =
      JsonDocument::readFile(directory + "/" + folder + "/" + name + ".json");
  if (!found)
    return found.error();
  JsonReader reader = found->reader();
  if (folder == std::string("chips"))
    readChip(reader);
  else
    readSystem(reader);
  if (reader.failed())
    return reader.takeError();
  return LibraryFile{name, found->toJson()};
}

std::optional<Error> NodeExpander::findNamed(const std::string &like) {
  std::vector<std::string> chips = library.chipNames(),
                           systems = library.systemNames();
  isNamed = true;
  bool isChip = std::count(chips.begin(), chips.end(), like) != 0;
  if (!isChip && std::count(systems.begin(), systems.end(), like) == 0)
    return unknownBase(library, like, document.name() + ": /like");
  for (const std::string &name : systems) {
    Result<LibraryFile> one = read("systems", name);
    if (!one)
      return one.error();
    if (name == like || (isChip && one->root["chip"] == like)) {
      system = std::move(*one);
      break;
    }
  }
  Result<LibraryFile> found =
      read("chips", isChip ? like : system.root["chip"].get<std::string>());
  if (!found)
    return found.error();
  chip = std::move(*found);
  return std::nullopt;
}

/// A floor above this limit, in us, belongs to launches outside of graphs.
/// These wait for a host and a driver that other chips do not have.
static constexpr double mostFloorUs = 10;

/// Finds the measured chip with the nearest peak and bandwidth: the sum of the
/// logarithms of both ratios is smallest.
std::optional<Error> NodeExpander::findNearestChip() {
  double least = INFINITY, peak = fields.peaks.at("bf16") * 1e12,
         bandwidth = *fields.bandwidth * 1e9;
  for (const std::string &name : library.chipNames()) {
    Result<LibraryFile> one = read("chips", name);
    if (!one)
      return one.error();
    json products = one->root["kernels"]["matmul"].value("bf16", json());
    json peaks = one->root["peak_flops"];
    if (products.is_null() || products["source"]["kind"] != "measured" ||
        valueOf(products["floor"]) > mostFloorUs || !peaks.contains("bf16"))
      continue;
    double far = distance(peak, valueOf(peaks["bf16"])) +
                 distance(bandwidth, valueOf(one->root["memory_bandwidth"]));
    if (far < least) {
      least = far;
      chip = std::move(*one);
    }
  }
  return std::nullopt;
}

/// Finds the system with the nearest links. It prefers a system that has the
/// same chip.
std::optional<Error> NodeExpander::findLinks() {
  double least = INFINITY;
  bool has = !system.name.empty();
  if (has &&
      (!fields.link ||
       distance(*fields.link * 1e9,
                valueOf(system.root["tiers"][0]["bandwidth"])) < std::log(2)))
    return std::nullopt;
  for (const std::string &name : library.systemNames()) {
    Result<LibraryFile> one = read("systems", name);
    if (!one)
      return one.error();
    const json &tier = one->root["tiers"][0];
    if (!tier.contains("domain"))
      continue;
    double far =
        distance(fields.link.value_or(32) * 1e9, valueOf(tier["bandwidth"]));
    // Of equally near systems, one with the same chip comes first, then one
    // with measured links.
    far += one->root["chip"] == chip.name                       ? 0
           : tier["efficiency"]["source"]["kind"] == "measured" ? 1e-3
                                                                : 2e-3;
    if (far < least) {
      least = far;
      system = std::move(*one);
    }
  }
  return std::nullopt;
}

std::optional<Error> NodeExpander::findBases() {
  if (fields.like) {
    if (auto error = findNamed(*fields.like))
      return error;
  } else if (auto error = findNearestChip()) {
    return error;
  }
  return findLinks();
}

//===----------------------------------------------------------------------===//
// Writing the files of a chip and a system
//===----------------------------------------------------------------------===//

/// Sets a figure if the file gives it. Otherwise the figure of the library
/// stays, if there is one.
void NodeExpander::set(json &root, const char *key, std::optional<double> value,
                       const char *unit) {
  if (value)
    root[key] = {
        {"value", *value}, {"unit", unit}, {"source", write(fields.source)}};
}

/// Formats without a peak in the file are left out, so that they run in bf16.
void NodeExpander::writePeaks(json &root) {
  if (fields.peaks.empty())
    return;
  json peaks = json::object();
  for (const auto &[format, tera] : fields.peaks)
    set(peaks, format.c_str(), tera * 1e12, "FLOP/s");
  root["peak_flops"] = peaks;
  auto prune = [&](json &kernels) {
    for (json &curves : kernels)
      for (auto it = curves.begin(); it != curves.end();) {
        std::string key = it.key();
        std::string units =
            key == "fp8_block" ? "fp8" : key.substr(key.rfind('_') + 1);
        bool stays = units == "any" || units == "bf16" || units == "fp16" ||
                     peaks.contains(units);
        it = stays ? std::next(it) : curves.erase(it);
      }
  };
  prune(root["kernels"]);
  if (root.contains("implementations"))
    for (json &kernels : root["implementations"])
      prune(kernels);
}

void NodeExpander::writeChip() {
  json &root = chip.root;
  double usable =
      valueOf(root["memory_usable"]) / valueOf(root["memory_label"]);
  double peak =
      valueOf(root["peak_flops"].contains("bf16") ? root["peak_flops"]["bf16"]
                                                  : root["peak_flops"].front());
  double bandwidth = valueOf(root["memory_bandwidth"]);
  setSources(root, write(derivedFrom("as " + chip.name)), isNamed);
  set(root, "memory_label",
      fields.memory ? std::optional(*fields.memory * (1 << 30)) : std::nullopt,
      "B");
  root["memory_usable"]["value"] =
      std::floor(valueOf(root["memory_label"]) * usable);
  set(root, "memory_bandwidth",
      fields.bandwidth ? std::optional(*fields.bandwidth * 1e9) : std::nullopt,
      "B/s");
  writePeaks(root);
  for (const char *key : {"board_power", "idle_power"})
    if (!isNamed)
      root.erase(key);
  set(root, "board_power", fields.power, "W");
  set(root, "idle_power", fields.idlePower, "W");
  root["name"] = fields.name;
  root["title"] = fields.title;
  std::string how;
  if (!isNamed)
    how =
        "the measured chip nearest in peak and bandwidth, of which this has " +
        times(fields.peaks.at("bf16") * 1e12, peak) + " and " +
        times(*fields.bandwidth * 1e9, bandwidth);
  takeOver("kernel curves and the share of memory that the driver keeps are "
           "those of " +
           chip.name + (how.empty() ? "" : ", " + how));
}

/// Keeps the measured collectives if the links are equal to those of the
/// measurement.
void NodeExpander::writeLinks(json &tier) {
  double measured = valueOf(tier["bandwidth"]);
  setSources(tier, write(derivedFrom("as " + system.name)), isNamed);
  bool isSame =
      !fields.link || std::abs(*fields.link * 1e9 / measured - 1) < 1e-6;
  for (const char *key : {"collectives", "implementations"})
    if (!isSame || key == std::string("implementations"))
      tier.erase(key);
  if (tier.contains("collectives"))
    for (json &groups : tier["collectives"])
      for (auto it = groups.begin(); it != groups.end();)
        it = std::stoll(it.key()) > fields.devices ? groups.erase(it)
                                                   : std::next(it);
  set(tier, "bandwidth",
      fields.link ? std::optional(*fields.link * 1e9) : std::nullopt, "B/s");
  tier["domain"] = fields.devices;
  if (fields.links.saysInner())
    return takeOver(
        writeLinkFields(fields, write(fields.source), system.name, tier));
  if (fields.devices > 1)
    takeOver("of links, efficiency " +
             formatNumber(valueOf(tier["efficiency"])) + " and latency " +
             formatNumber(valueOf(tier["latency"])) + " us are those of " +
             system.name +
             (isSame ? ""
                     : ", whose bandwidth is " + formatNumber(measured / 1e9) +
                           " GB/s"));
}

void NodeExpander::writeSystem() {
  json &root = system.root;
  if (!isNamed || fields.price)
    root.erase("price");
  json tiers = json::array(), out;
  for (json &tier : root["tiers"])
    if (!tier.contains("domain") || tier["domain"] == "nodes")
      out = tier;
  if (!fields.count && isNamed)
    fields.devices = root["devices_per_node"].get<int64_t>();
  // A node with a single device may have only links to other nodes.
  if (fields.devices > 1 || root["tiers"][0].contains("domain")) {
    tiers.push_back(root["tiers"][0]);
    writeLinks(tiers.back());
    tiers.back()["name"] = "scale_up";
  }
  if (!out.is_null() && (isNamed || fields.betweenNodes)) {
    setSources(out, write(derivedFrom("as " + system.name)), isNamed);
    set(out, "bandwidth",
        fields.betweenNodes ? std::optional(*fields.betweenNodes * 1e9)
                            : std::nullopt,
        "B/s");
    set(out, "efficiency", fields.links.outerEfficiency, "1");
    set(out, "latency", fields.links.outerLatency, "us");
    out["name"] = "scale_out";
    tiers.push_back(out);
  }
  root = {{"schema", "autopar.system/1"},
          {"name", fields.name},
          {"title", fields.title},
          {"chip", fields.name},
          {"devices_per_node", fields.devices}};
  root["tiers"] = std::move(tiers);
  set(root, "price", fields.price, "USD/h");
}

Result<ExpandedNode> NodeExpander::run() {
  Result<NodeFields> read = readNode(document);
  if (!read)
    return read.error();
  fields = std::move(*read);
  if (auto error = findBases())
    return *error;
  writeSystem();
  std::string links = std::move(taken);
  taken.clear();
  writeChip();
  if (!links.empty())
    takeOver(links);
  auto parse = [&](const json &root) {
    return JsonDocument::parse(root.dump(), document.name());
  };
  Result<JsonDocument> chipFile = parse(chip.root);
  if (!chipFile)
    return chipFile.error();
  Result<JsonDocument> systemFile = parse(system.root);
  if (!systemFile)
    return systemFile.error();
  return ExpandedNode{std::move(*chipFile), std::move(*systemFile), taken};
}

Result<ExpandedNode>
autopar::hardware::expandNode(const JsonDocument &document,
                              const HardwareLibrary &library,
                              const std::string &directory) {
  return NodeExpander(document, library, directory).run();
}
