//===- LayerRuns.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerRuns.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::importer;

/// Length, in layers, of the longest pattern that is tried.
static constexpr size_t maxPeriod = 32;

/// Returns how often the `period` layers at `begin` are repeated consecutively.
static size_t countRepeats(const std::vector<uint32_t> &layers, size_t begin,
                           size_t period) {
  size_t end = begin + period;
  while (end < layers.size() && layers[end] == layers[end - period])
    ++end;
  return (end - begin) / period;
}

static std::vector<LayerRun> findRuns(const uint32_t *begin,
                                      const uint32_t *end) {
  std::vector<LayerRun> runs;
  for (; begin != end; ++begin)
    if (!runs.empty() && runs.back().kind == *begin)
      ++runs.back().count;
    else
      runs.push_back({*begin, 1});
  return runs;
}

std::vector<LayerPattern>
autopar::importer::findPatterns(const std::vector<uint32_t> &layers) {
  std::vector<LayerPattern> patterns;
  for (size_t begin = 0; begin < layers.size();) {
    size_t best = 1, repeats = countRepeats(layers, begin, 1);
    size_t longest = std::min(maxPeriod, (layers.size() - begin) / 2);
    for (size_t period = 2; period <= longest; ++period) {
      size_t count = countRepeats(layers, begin, period);
      if (count >= 2 && count * period > repeats * best) {
        best = period;
        repeats = count;
      }
    }
    const uint32_t *first = layers.data() + begin;
    patterns.push_back({findRuns(first, first + best),
                        static_cast<int64_t>(repeats),
                        static_cast<int64_t>(begin)});
    begin += best * repeats;
  }
  return patterns;
}
