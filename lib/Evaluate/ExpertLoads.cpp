//===- ExpertLoads.cpp - Experts on the devices of a plan -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedStep.h"

#include "autopar/Cost/ExpertNodes.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::program;

std::optional<ExpertPlacement>
autopar::evaluation::expertLoadsOf(const PricedStep &step) {
  if (!step.program.placement)
    return std::nullopt;
  const PlacedExperts &placed = *step.program.placement;
  ExpertPlacement placement;
  placement.options = placed.options;
  PlacementSpace &space = placement.space;
  space.experts = placed.experts;
  space.groups = placed.groups;
  space.ranks = step.groupSize(placed.axes).int64().value_or(1);
  space.slotsPerRank = placed.slots / space.ranks;
  space.nodes = nodesOf(step.groupOf(placed.axes), step.pool().devicesPerNode)
                    .value_or(1);
  for (const PlacedExperts::Layer &layer : placed.layers) {
    LayerLoads loads = layer.loads;
    if (placed.limit)
      loads.tokens = workedTokens(std::move(loads.tokens), *placed.limit);
    LayerPlacement &result = placement.layers.emplace_back(
        evaluatePlacement(layer.slots, loads, space));
    result.traffic = layer.traffic;
    result.blockTraffic = layer.blockTraffic;
  }
  return placement;
}
