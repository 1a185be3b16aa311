//===- ExpertPlacementCost.cpp - Experts on the devices of a plan ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Cost/ExpertNodes.h"
#include "autopar/Support/Limits.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;

void autopar::report::readExpertLoads(Reading &reading) {
  if (!reading.program.placement)
    return;
  const PlacedExperts &placed = *reading.program.placement;
  ExpertPlacement placement;
  placement.options = placed.options;
  PlacementSpace &space = placement.space;
  space.experts = placed.experts;
  space.groups = placed.groups;
  space.ranks = reading.groupSize(placed.axes).int64().value_or(1);
  space.slotsPerRank = placed.slots / space.ranks;
  space.nodes =
      nodesOf(reading.groupOf(placed.axes), reading.pool().devicesPerNode)
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
  reading.report.placement = std::move(placement);
}

/// Whether layers of one kind wait for devices of different heat, by more than
/// shows in a time.
static bool layersDiffer(const Reading &reading) {
  constexpr double visible = 1e-3;
  const std::vector<LayerPlacement> &layers = reading.report.placement->layers;
  std::map<uint32_t, double> firsts;
  for (size_t i = 0; i < layers.size(); ++i) {
    double imbalance = layers[i].imbalance();
    auto first =
        firsts.emplace(reading.program.placement->layers[i].kind, imbalance);
    if (std::fabs(first.first->second - imbalance) > visible)
      return true;
  }
  return false;
}

void autopar::report::addLoadAssumptions(const Reading &reading,
                                         std::vector<Assumption> &assumptions) {
  const CostProgram &program = reading.program;
  if (!reading.report.placement) {
    if (std::any_of(program.kernels.begin(), program.kernels.end(),
                    [&](const Kernel &kernel) {
                      return program.sharedExperts(kernel) != nullptr;
                    }))
      assumptions.push_back(
          {"expert loads",
           "even in the mean; of ranks the one that chance gives most",
           "autopar: normal deviates of powers of 2/3, within 3 % of drawn "
           "routing from 8 tokens on"});
    return;
  }
  assumptions.push_back(
      {"expert loads", reading.program.placement->source,
       "user: of them follows the hottest device, not which experts a batch "
       "reaches"});
  if (reading.program.placement->limit)
    assumptions.push_back({"expert capacity",
                           "of loads before it is rounded up",
                           "autopar: method of the evaluator"});
  if (reading.plan.pipeline.stages.size() > 1 && layersDiffer(reading))
    assumptions.push_back({"expert loads of stages",
                           "the mean over the layers of a kind, whichever of "
                           "them a stage has",
                           "autopar: method of the evaluator"});
}
