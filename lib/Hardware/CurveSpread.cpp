//===- CurveSpread.cpp - How far apart measured chips are -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include <algorithm>

using namespace autopar;

namespace {

/// The least and the most of what chips reach.
struct Range {
  size_t chips = 0;
  double leastCompute = 1, mostCompute = 0, leastMemory = 1, mostMemory = 0;

  void add(const KernelCurve &curve) {
    leastCompute = std::min(leastCompute, curve.computeEfficiency);
    mostCompute = std::max(mostCompute, curve.computeEfficiency);
    leastMemory = std::min(leastMemory, curve.memoryEfficiency);
    mostMemory = std::max(mostMemory, curve.memoryEfficiency);
    ++chips;
  }
};

} // namespace

/// What `function` makes of each curve of formats, by "matmul.bf16".
template <typename Function>
static void forEachUse(const Chip &chip, Function function) {
  for (const auto &[kind, curves] : chip.kernels)
    for (const auto &[key, curve] : curves)
      if (!key.empty())
        function(std::string(nameOf(kind)) + "." + key, curve);
}

Result<std::map<std::string, CurveSpread>>
autopar::curveSpreads(const Chip &chip, const std::string &directory,
                      const HardwareLibrary &library) {
  std::map<std::string, Range> ranges;
  forEachUse(chip, [&](const std::string &use, const KernelCurve &curve) {
    if (curve.source.kind == "derived")
      ranges[use];
  });
  std::map<std::string, CurveSpread> spreads;
  if (ranges.empty())
    return spreads;
  for (const std::string &name : library.chipNames()) {
    Result<JsonDocument> file =
        JsonDocument::readFile(directory + "/chips/" + name + ".json");
    if (!file)
      return file.error();
    JsonReader reader = file->reader();
    Chip other = readChip(reader);
    if (reader.failed())
      return reader.takeError();
    forEachUse(other, [&](const std::string &use, const KernelCurve &curve) {
      auto range = ranges.find(use);
      if (range != ranges.end() && curve.source.kind == "measured")
        range->second.add(curve);
    });
  }
  for (const auto &[use, range] : ranges)
    if (range.chips > 1)
      spreads[use] = {range.chips, range.mostCompute / range.leastCompute,
                      range.mostMemory / range.leastMemory};
  return spreads;
}
