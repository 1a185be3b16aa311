//===- NodeDraft.cpp - A file to edit, like a chip of the library ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeFields.h"

#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::hardware;

using Json = nlohmann::ordered_json;

/// Returns the system `base`, or the system that has the chip `base`; nothing
/// if there is none.
static Result<std::optional<Machine>> find(const HardwareLibrary &library,
                                           const std::string &base) {
  std::vector<std::string> chips = library.chipNames();
  bool isChip = std::count(chips.begin(), chips.end(), base) != 0;
  std::vector<std::string> systems = library.systemNames();
  if (!isChip && std::count(systems.begin(), systems.end(), base) == 0)
    return unknownBase(library, base, "");
  if (!isChip) {
    Result<Machine> machine = library.machine(base);
    if (!machine)
      return machine.error();
    return std::optional(std::move(*machine));
  }
  for (const std::string &name : systems) {
    Result<Machine> machine = library.machine(name);
    if (!machine)
      return machine.error();
    if (machine->pools.front().chip.name == base)
      return std::optional(std::move(*machine));
  }
  return std::optional<Machine>();
}

static Json scaled(const Figure &figure, double unit) {
  double value = figure.value / unit;
  return value == static_cast<double>(static_cast<int64_t>(value))
             ? Json(static_cast<int64_t>(value))
             : Json(value);
}

static Error badName(const std::string &name) {
  return {"",
          "--as=" + shorten(name) +
              ": expected lower-case letters, digits and \"-\"",
          "for example --as=my-chip"};
}

Result<std::string> HardwareLibrary::draftNode(const std::string &base,
                                               const std::string &name) const {
  if (name.empty() ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") !=
          std::string::npos)
    return badName(name);
  Result<std::optional<Machine>> found = find(*this, base);
  if (!found)
    return found.error();
  if (!*found)
    return Error{"", "no system of the library has the chip " + base, ""};
  const Pool &pool = (*found)->pools.front();
  const Chip &chip = pool.chip;
  const Tier &last = pool.tiers.back();
  Json root{{"schema", nodeSchema},
            {"name", name},
            {"like", base},
            {"source", "say where your figures come from"},
            {"devices", pool.devicesPerNode},
            {"memory_gib", scaled(chip.memoryLabel, 1 << 30)},
            {"bandwidth_gb_s", scaled(chip.memoryBandwidth, 1e9)},
            {"peak_tflops", Json::object()}};
  for (const auto &[format, peak] : chip.peakFlops)
    root["peak_tflops"][format] = scaled(peak, 1e12);
  if (pool.devicesPerNode > 1)
    root["link_gb_s"] = scaled(pool.tiers.front().bandwidth, 1e9);
  if (pool.tiers.size() > 1)
    root["between_nodes_gb_s"] = scaled(last.bandwidth, 1e9);
  if (chip.boardPower)
    root["power_w"] = scaled(*chip.boardPower, 1);
  if (chip.idlePower)
    root["idle_power_w"] = scaled(*chip.idlePower, 1);
  if ((*found)->price)
    root["price_usd_per_hour"] = scaled(*(*found)->price, 1);
  return root.dump(2) + "\n";
}
