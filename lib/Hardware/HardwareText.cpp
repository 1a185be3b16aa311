//===- HardwareText.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hardware/HardwareText.h"

#include "autopar/Support/Library.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;

namespace {
/// One figure, named by its path below the chip or system.
struct Row {
  std::string field;
  double value;
  std::string unit;
  std::string source;
};

/// The chip or system to which a name refers.
struct Found {
  bool isSystem = false;
  std::string name, title;
  std::vector<Row> figures;
  std::vector<Row> curves;
};
} // namespace

//===----------------------------------------------------------------------===//
// Listing the figures of a chip or system
//===----------------------------------------------------------------------===//

static void add(std::vector<Row> &rows, const std::string &field,
                const Figure &figure, const char *unit) {
  rows.push_back({field, figure.value, unit, figure.source.str()});
}

static void flatten(const Chip &chip, Found &found) {
  add(found.figures, "memory_label", chip.memoryLabel, "B");
  add(found.figures, "memory_usable", chip.memoryUsable, "B");
  add(found.figures, "memory_bandwidth", chip.memoryBandwidth, "B/s");
  for (const auto &[key, peak] : chip.peakFlops)
    add(found.figures, "peak_flops." + key, peak, "FLOP/s");
  if (chip.boardPower)
    add(found.figures, "board_power", *chip.boardPower, "W");
  if (chip.sustainedCompute)
    add(found.figures, "sustained_compute", *chip.sustainedCompute, "1");
  if (chip.idlePower)
    add(found.figures, "idle_power", *chip.idlePower, "W");
  for (const auto &[kind, curves] : chip.kernels)
    for (const auto &[key, curve] : curves) {
      std::string field = "kernels." + std::string(nameOf(kind)) + "." +
                          (key.empty() ? "any" : key) + ".";
      std::string source = curve.source.str();
      auto row = [&](const char *name, double value, const char *unit) {
        found.curves.push_back({field + name, value, unit, source});
      };
      row("floor", curve.floorUs, "us");
      if (multiplies(kind))
        row("compute_efficiency", curve.computeEfficiency, "1");
      row("memory_efficiency", curve.memoryEfficiency, "1");
      row("exponent", curve.exponent, "1");
    }
}

static void flatten(const Pool &pool, Found &found) {
  found.figures.push_back(
      {"devices_per_node", static_cast<double>(pool.devicesPerNode), "1", ""});
  for (const Tier &tier : pool.tiers) {
    std::string field = "tiers." + tier.name + ".";
    add(found.figures, field + "bandwidth", tier.bandwidth, "B/s");
    add(found.figures, field + "efficiency", tier.efficiency, "1");
    add(found.figures, field + "latency", tier.latency, "us");
    for (const auto &[kind, groups] : tier.curves)
      for (const auto &[devices, curve] : groups)
        for (size_t i = 0; i < curve.timeUs.size(); ++i)
          found.curves.push_back(
              {field + "collectives." + std::string(nameOf(kind)) + "." +
                   std::to_string(devices) + " at 2^" +
                   std::to_string(curve.firstLog2Bytes + i) + " B",
               curve.timeUs[i], "us", curve.source.str()});
  }
}

static bool has(const std::vector<std::string> &names,
                const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns whether `name` is a system: the library knows it, or the schema of
/// the file says so.
static Result<bool> isSystem(const HardwareLibrary &library,
                             const std::string &name) {
  std::vector<std::string> known = library.chipNames();
  if (has(known, name))
    return false;
  for (const std::string &system : library.systemNames())
    known.push_back(system);
  if (has(known, name))
    return true;
  if (!isPath(name)) {
    // "h100" means the same system as --hardware=h100 does.
    if (library.machine(name))
      return true;
    std::vector<std::string> fitting = library.fitting(name);
    if (!fitting.empty())
      return Error{"",
                   "no chip and no system is called \"" + shorten(name) + "\"",
                   "these are: " + join(fitting, ", ")};
    return Error{"",
                 "no chip and no system is called \"" + shorten(name) + "\"" +
                     didYouMean(suggestions(name, known)),
                 "autopar hardware list shows them all"};
  }
  Result<JsonDocument> document = JsonDocument::readFile(name);
  if (!document)
    return document.error();
  // Other files are read as machines; one that is no machine gives an error.
  std::string schema = document->reader().optionalString("schema").value_or("");
  return schema.compare(0, 13, "autopar.chip/") != 0;
}

static Result<Found> lookUp(const HardwareLibrary &library,
                            const std::string &name) {
  Result<bool> system = isSystem(library, name);
  if (!system)
    return system.error();
  Found found;
  found.isSystem = *system;
  if (!found.isSystem) {
    Result<Chip> chip = library.chip(name);
    if (!chip)
      return chip.error();
    found.name = chip->name;
    found.title = chip->title;
    flatten(*chip, found);
    return found;
  }
  Result<Machine> machine = library.machine(name);
  if (!machine)
    return machine.error();
  found.name = machine->name;
  found.title = machine->title + "; chip " + machine->pools.front().chip.name;
  if (machine->price)
    add(found.figures, "price", *machine->price, "USD/h");
  flatten(machine->pools.front(), found);
  return found;
}

//===----------------------------------------------------------------------===//
// Texts of the commands
//===----------------------------------------------------------------------===//

Result<std::string>
autopar::hardware::listHardware(const HardwareLibrary &library) {
  TextTable chips("lrrrrl", uncut);
  chips.add({"chip", "memory", "bandwidth", "16 bit", "8 bit", "title"});
  for (const std::string &name : library.chipNames()) {
    Result<Chip> chip = library.chip(name);
    if (!chip)
      return chip.error();
    const Figure *wide = chip->peak(ElementType::bf16);
    auto fp8 = chip->peakFlops.find("fp8");
    bool narrow = fp8 != chip->peakFlops.end();
    chips.add({name, formatFigure(chip->memoryUsable.value, "B"),
               formatFigure(chip->memoryBandwidth.value, "B/s"),
               wide ? formatFigure(wide->value, "FLOP/s") : "-",
               narrow ? formatFigure(fp8->second.value, "FLOP/s") : "-",
               chip->title});
  }
  TextTable systems("lrrrl", uncut);
  systems.add({"system", "devices", "links", "between nodes", "title"});
  for (const std::string &name : library.systemNames()) {
    Result<Machine> machine = library.machine(name);
    if (!machine)
      return machine.error();
    const Pool &pool = machine->pools.front();
    const std::vector<Tier> &tiers = pool.tiers;
    systems.add({name, std::to_string(pool.devicesPerNode),
                 formatFigure(tiers.front().bandwidth.value, "B/s"),
                 tiers.size() > 1
                     ? formatFigure(tiers.back().bandwidth.value, "B/s")
                     : "-",
                 machine->title});
  }
  return "Chips (usable memory; dense peaks)\n" + chips.str() +
         "\nSystems (one node; bandwidth per device, one direction)\n" +
         systems.str();
}

static void addFigure(TextTable &table, const Row &row) {
  table.add({row.field, formatFigure(row.value, row.unit), row.source});
}

static std::string countOfShapes(const KernelCurve &curve) {
  size_t count = 0;
  for (const auto &table : curve.shapes)
    count += table ? table->ratios.size() : 0;
  return count == 0 ? "-" : std::to_string(count);
}

/// Returns a table of kernel curves, one line for each curve.
static std::string kernelTable(const Chip &chip) {
  TextTable table("llrrrrrrrl", uncut);
  table.add({"kernel", "format", "floor", "compute", "memory", "exponent",
             "shapes", "median error", "p90 error", "source"});
  auto shareOf = [](std::optional<double> error) -> std::string {
    return error ? print("%.1f %%", *error * 100) : "-";
  };
  for (const auto &[kind, curves] : chip.kernels)
    for (const auto &[key, curve] : curves) {
      table.add({std::string(nameOf(kind)), key.empty() ? "any" : key,
                 formatFigure(curve.floorUs, "us"),
                 multiplies(kind) ? formatNumber(curve.computeEfficiency) : "-",
                 formatNumber(curve.memoryEfficiency),
                 formatNumber(curve.exponent), countOfShapes(curve),
                 shareOf(curve.medianError), shareOf(curve.p90Error),
                 curve.source.str()});
    }
  return "\nKernels: time = floor + ((flops / (compute * peak))^q + (bytes / "
         "(memory * bandwidth))^q)^(1/q) * ratio, q the exponent, the ratio "
         "from a table of so many shapes\n" +
         table.str();
}

/// Returns a table of collective curves at a few sizes of messages, one line
/// for each curve.
static std::string collectiveTable(const Pool &pool) {
  static constexpr int sizes[] = {13, 17, 20, 24, 28};
  TextTable table("llrrrrrrl", uncut);
  table.add({"tier", "collective", "devices", "8 KiB", "128 KiB", "1 MiB",
             "16 MiB", "256 MiB", "source"});
  for (const Tier &tier : pool.tiers)
    for (const auto &[kind, groups] : tier.curves)
      for (const auto &[devices, curve] : groups) {
        std::vector<std::string> row = {tier.name, std::string(nameOf(kind)),
                                        std::to_string(devices)};
        for (int size : sizes) {
          size_t index = static_cast<size_t>(size - curve.firstLog2Bytes);
          row.push_back(index < curve.timeUs.size()
                            ? formatFigure(curve.timeUs[index], "us")
                            : "-");
        }
        row.push_back(curve.source.str());
        table.add(std::move(row));
      }
  return table.isHeadOnly() ? ""
                            : "\nCollectives: time of one call\n" + table.str();
}

Result<std::string>
autopar::hardware::showHardware(const HardwareLibrary &library,
                                const std::string &name) {
  Result<Found> found = lookUp(library, name);
  if (!found)
    return found.error();
  std::string text = found->name + ": " + found->title + "\n";
  TextTable table("lrl", uncut);
  table.add({"figure", "value", "source"});
  for (const Row &row : found->figures)
    addFigure(table, row);
  text += table.str();
  if (found->isSystem) {
    Result<Machine> machine = library.machine(name);
    return machine ? text + collectiveTable(machine->pools.front())
                   : Result<std::string>(machine.error());
  }
  Result<Chip> chip = library.chip(name);
  return chip ? text + kernelTable(*chip) : Result<std::string>(chip.error());
}

static const Row *find(const std::vector<Row> &rows, const std::string &field) {
  for (const Row &row : rows)
    if (row.field == field)
      return &row;
  return nullptr;
}

static std::string ratio(double first, double second) {
  return first == 0 ? "-" : print("%.3gx", second / first);
}

static void addDifferences(TextTable &table, const std::vector<Row> &first,
                           const std::vector<Row> &second) {
  for (const Row &row : first) {
    const Row *other = find(second, row.field);
    if (other && other->value == row.value)
      continue;
    table.add({row.field, formatFigure(row.value, row.unit),
               other ? formatFigure(other->value, other->unit) : "-",
               other ? ratio(row.value, other->value) : "-", row.source,
               other ? other->source : ""});
  }
  for (const Row &row : second)
    if (!find(first, row.field))
      table.add({row.field, "-", formatFigure(row.value, row.unit), "-", "",
                 row.source});
}

Result<std::string>
autopar::hardware::diffHardware(const HardwareLibrary &library,
                                const std::string &first,
                                const std::string &second) {
  Result<Found> a = lookUp(library, first), b = lookUp(library, second);
  if (!a || !b)
    return !a ? a.error() : b.error();
  if (a->isSystem != b->isSystem) {
    const Found &system = a->isSystem ? *a : *b;
    const Found &chip = a->isSystem ? *b : *a;
    return Error{"",
                 system.name + " is a system and " + chip.name +
                     " is a chip: only alike can be compared",
                 "systems list their chip in autopar hardware show"};
  }
  TextTable table("lrrrll", uncut);
  table.add({"figure", a->name, b->name, "ratio", a->name + " from",
             b->name + " from"});
  addDifferences(table, a->figures, b->figures);
  addDifferences(table, a->curves, b->curves);
  std::string text =
      a->name + ": " + a->title + "\n" + b->name + ": " + b->title + "\n";
  return text + (table.isHeadOnly() ? "  no figure differs\n" : table.str());
}
