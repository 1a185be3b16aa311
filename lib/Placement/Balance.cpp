//===- Balance.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Balance.h"

#include "Exact.h"
#include "Packer.h"
#include "Replicas.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;

double autopar::placement::boundOf(const Cell &cell) {
  double total = std::accumulate(cell.loads.begin(), cell.loads.end(), 0.0);
  double mean = total / cell.ranks;
  if (cell.slotsPerRank >= cell.experts())
    return mean;
  return std::max(
      mean, largestReplicaLoad(cell.loads, replicaCounts(cell.loads, cell.ranks,
                                                         cell.slots())));
}

std::vector<double>
autopar::placement::rankLoads(const std::vector<double> &loads, int64_t ranks,
                              const std::vector<int32_t> &slots) {
  std::vector<int64_t> counts(loads.size());
  for (int32_t expert : slots)
    ++counts[expert];
  std::vector<double> tokens(static_cast<size_t>(ranks));
  size_t slotsPerRank = slots.size() / tokens.size();
  for (size_t slot = 0; slot < slots.size(); ++slot)
    tokens[slot / slotsPerRank] += loads[slots[slot]] / counts[slots[slot]];
  return tokens;
}

double autopar::placement::largestLoadOf(const std::vector<double> &loads) {
  return *std::max_element(loads.begin(), loads.end());
}

/// Puts every expert on every rank, and some experts twice, so that all ranks
/// have the same load.
static Balanced replicateEverywhere(const Cell &cell) {
  Balanced result;
  for (int64_t slot = 0; slot < cell.slots(); ++slot)
    result.slots.push_back(
        static_cast<int32_t>(slot % cell.slotsPerRank % cell.experts()));
  result.optimal = true;
  return result;
}

/// Packs the numbers of replicas that lead to the lowest maximum load of a
/// rank. Many replicas of the most loaded experts are not always best, because
/// more ranks then get two large replicas; so thresholds of the load per
/// replica are tried from the lowest up.
static Packer packBestCounts(const Cell &cell, double bound, Steps &steps) {
  constexpr int thresholds = 12;
  constexpr double range = 1.1;
  std::vector<int64_t> counts =
      replicaCounts(cell.loads, cell.ranks, cell.slots());
  double least = largestReplicaLoad(cell.loads, counts);
  Packer best(cell, std::move(counts), bound);
  best.pack(steps);
  for (int i = 0; i < thresholds && !best.isCloseToBound() && steps.left > 0;
       ++i) {
    counts = thresholdCounts(cell.loads, cell.ranks, cell.slots(),
                             least + (bound * range - least) * i / thresholds);
    if (counts.empty())
      continue;
    Packer other(cell, std::move(counts), bound);
    other.pack(steps);
    if (other.largestLoad() < best.largestLoad())
      best.takeFrom(other);
  }
  return best;
}

Balanced autopar::placement::balance(const Cell &cell, Steps &steps) {
  if (cell.slotsPerRank >= cell.experts())
    return replicateEverywhere(cell);
  double bound = boundOf(cell);
  Packer packer = packBestCounts(cell, bound, steps);
  packer.replaceReplicas(steps);
  Balanced result = {packer.slots(),
                     packer.largestLoad() <= bound * (1 + loadEpsilon)};
  if (!result.optimal)
    searchExactly(cell, bound, result, steps);
  return result;
}

Balanced autopar::placement::balance(const Cell &cell,
                                     std::vector<int64_t> counts,
                                     Steps &steps) {
  double total = std::accumulate(cell.loads.begin(), cell.loads.end(), 0.0);
  double bound =
      std::max(total / cell.ranks, largestReplicaLoad(cell.loads, counts));
  Packer packer(cell, std::move(counts), bound);
  packer.pack(steps);
  return {packer.slots(), packer.largestLoad() <= bound * (1 + loadEpsilon)};
}
