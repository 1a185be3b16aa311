//===- ExpertPlacer.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/ExpertPlacer.h"

using namespace autopar;
using namespace autopar::placement;

static PlacementOptions optionsOf(PlacementPolicy policy) {
  PlacementOptions options;
  options.policy = policy;
  return options;
}

ExpertPlacer::ExpertPlacer(LoadProfile loads, PlacementPolicy policy)
    : profile(std::move(loads)), choices(optionsOf(policy)) {}

static Result<std::vector<double>> place(const LoadProfile &loads,
                                         const PlacementOptions &options,
                                         int64_t slots, int64_t ranks,
                                         int64_t nodes) {
  if (slots % ranks != 0)
    return Error{"",
                 std::to_string(slots) + " slots of experts do not lie on " +
                     std::to_string(ranks) + " devices",
                 ""};
  PlacementSpace space;
  space.experts = loads.experts;
  space.ranks = ranks;
  space.slotsPerRank = slots / ranks;
  space.nodes = nodes;
  Result<ExpertPlacement> placement = placeExperts(loads, space, options);
  if (!placement)
    return placement.error();
  std::vector<double> imbalances;
  for (const LayerPlacement &layer : placement->layers)
    imbalances.push_back(layer.imbalance());
  return imbalances;
}

/// The first thread that asks for a placement computes it; other threads wait
/// for the result.
Result<std::vector<double>>
ExpertPlacer::imbalances(int64_t slots, int64_t ranks, int64_t nodes) {
  std::lock_guard<std::mutex> lock(mutex);
  std::array<int64_t, 3> key = {slots, ranks, nodes};
  auto it = known.find(key);
  if (it == known.end())
    it = known.emplace(key, place(profile, choices, slots, ranks, nodes)).first;
  return it->second;
}
