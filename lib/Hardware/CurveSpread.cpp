//===- CurveSpread.cpp - How far apart measured chips are -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using nlohmann::json;

namespace {

/// The least and the most of what chips reach.
struct Range {
  size_t chips = 0;
  double leastCompute = 1, mostCompute = 0, leastMemory = 1, mostMemory = 0;

  void add(const json &curve) {
    double compute = curve["compute_efficiency"]["value"],
           memory = curve["memory_efficiency"]["value"];
    leastCompute = std::min(leastCompute, compute);
    mostCompute = std::max(mostCompute, compute);
    leastMemory = std::min(leastMemory, memory);
    mostMemory = std::max(mostMemory, memory);
    ++chips;
  }
};

} // namespace

/// Adds the curves of one file that were measured and that `ranges` has.
static void addChip(const json &kernels, std::map<std::string, Range> &ranges) {
  for (auto kernel = kernels.begin(); kernel != kernels.end(); ++kernel)
    for (auto curve = kernel->begin(); curve != kernel->end(); ++curve) {
      auto range = ranges.find(kernel.key() + "." + curve.key());
      if (range != ranges.end() && (*curve)["source"]["kind"] == "measured")
        range->second.add(*curve);
    }
}

Result<std::map<std::string, CurveSpread>>
autopar::curveSpreads(const Chip &chip, const std::string &directory,
                      const std::vector<std::string> &chips) {
  std::map<std::string, Range> ranges;
  for (const auto &[kind, curves] : chip.kernels)
    for (const auto &[key, curve] : curves)
      if (curve.source.kind == "derived" && !key.empty())
        ranges[std::string(nameOf(kind)) + "." + key];
  std::map<std::string, CurveSpread> spreads;
  if (ranges.empty())
    return spreads;
  for (const std::string &name : chips) {
    Result<JsonDocument> file =
        JsonDocument::readFile(directory + "/chips/" + name + ".json");
    if (!file)
      return file.error();
    addChip(file->value()["kernels"], ranges);
  }
  for (const auto &[use, range] : ranges)
    if (range.chips > 1)
      spreads[use] = {range.chips, range.mostCompute / range.leastCompute,
                      range.mostMemory / range.leastMemory};
  return spreads;
}
