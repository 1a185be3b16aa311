//===- LayerPlacer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerPlacer.h"

#include "Communities.h"
#include "TrafficSearch.h"

using namespace autopar;
using namespace autopar::placement;

/// The largest number of replicas whose affinity is stored as a matrix.
static constexpr size_t maxDealtReplicas = 4096;

LayerPlacer::LayerPlacer(const LayerLoads &loads, const PlacementSpace &space,
                         const PlacementOptions &options,
                         const LayerTrace *trace)
    : loads(loads), space(space), options(options),
      trace(space.nodes > 1 ? trace : nullptr),
      pairs(this->trace ? coactivation(space.experts, *trace)
                        : SquareMatrix(0)) {}

Balanced LayerPlacer::place() const {
  return options.groupsInNode ? placeGroups() : placeFreely();
}

//===----------------------------------------------------------------------===//
// Placement by groups of experts, each group on one node
//===----------------------------------------------------------------------===//

std::vector<int32_t>
LayerPlacer::placeByNode(const NodeOf &nodeOfExpert) const {
  std::vector<int32_t> slots;
  Steps steps;
  for (int64_t node = 0; node < space.nodes; ++node) {
    Cell cell;
    cell.ranks = space.ranksPerNode();
    cell.slotsPerRank = space.slotsPerRank;
    std::vector<int32_t> experts;
    for (size_t expert = 0; expert < nodeOfExpert.size(); ++expert)
      if (nodeOfExpert[expert] == node) {
        experts.push_back(static_cast<int32_t>(expert));
        cell.loads.push_back(loads.tokens[expert]);
      }
    for (int32_t index : balance(cell, steps).slots)
      slots.push_back(experts[index]);
  }
  return slots;
}

LayerPlacer::NodeOf
LayerPlacer::expertsByGroup(const NodeOf &nodeOfGroup) const {
  NodeOf nodeOf(static_cast<size_t>(space.experts));
  size_t perGroup = nodeOf.size() / nodeOfGroup.size();
  for (size_t expert = 0; expert < nodeOf.size(); ++expert)
    nodeOf[expert] = nodeOfGroup[expert / perGroup];
  return nodeOf;
}

Balanced LayerPlacer::placeGroups() const {
  auto groups = static_cast<size_t>(space.groups);
  size_t perGroup = loads.tokens.size() / groups;
  Units units = {std::vector<double>(groups), SquareMatrix(trace ? groups : 0),
                 space.nodes, 0};
  for (size_t expert = 0; expert < loads.tokens.size(); ++expert)
    units.loads[expert / perGroup] += loads.tokens[expert];
  // In this problem a group counts as an expert with one replica, and a node as
  // a rank.
  Cell cell = {units.loads, space.nodes, space.groups / space.nodes};
  NodeOf nodeOf(groups);
  Steps steps;
  std::vector<int32_t> dealt =
      balance(cell, std::vector<int64_t>(groups, 1), steps).slots;
  for (size_t slot = 0; slot < groups; ++slot)
    nodeOf[dealt[slot]] =
        static_cast<int32_t>(slot / static_cast<size_t>(cell.slotsPerRank));
  Balanced best = {placeByNode(expertsByGroup(nodeOf)), false};
  if (!trace)
    return best;
  for (size_t a = 0; a < pairs.size; ++a)
    for (size_t b = 0; b < pairs.size; ++b)
      if (a / perGroup != b / perGroup)
        units.affinity.at(a / perGroup, b / perGroup) += pairs.at(a, b);
  double maxLoad = largestLoad(best.slots) * (1 + options.tolerance);
  units.nodeLoad = maxLoad * space.ranksPerNode();
  consider(placeByNode(expertsByGroup(dealToNodes(units))), maxLoad, best);
  return best;
}

//===----------------------------------------------------------------------===//
// Placement of any expert anywhere
//===----------------------------------------------------------------------===//

std::vector<int32_t>
LayerPlacer::placeReplicas(const std::vector<int32_t> &balanced,
                           double nodeLoad) const {
  std::vector<int64_t> counts(loads.tokens.size());
  for (int32_t expert : balanced)
    ++counts[expert];
  Units units = {{}, SquareMatrix(balanced.size()), space.nodes, nodeLoad};
  for (size_t a = 0; a < balanced.size(); ++a) {
    units.loads.push_back(loads.tokens[balanced[a]] / counts[balanced[a]]);
    for (size_t b = 0; b < balanced.size(); ++b)
      units.affinity.at(a, b) =
          pairs.at(balanced[a], balanced[b]) /
          static_cast<double>(counts[balanced[a]] * counts[balanced[b]]);
  }
  NodeOf nodeOf = dealToNodes(units);
  std::vector<int32_t> slots;
  Steps steps;
  for (int64_t node = 0; node < space.nodes; ++node) {
    std::vector<int64_t> here(counts.size());
    for (size_t unit = 0; unit < nodeOf.size(); ++unit)
      here[balanced[unit]] += nodeOf[unit] == node;
    Cell cell = {{}, space.ranksPerNode(), space.slotsPerRank};
    std::vector<int64_t> replicas;
    std::vector<int32_t> experts;
    for (size_t expert = 0; expert < here.size(); ++expert) {
      if (here[expert] > cell.ranks)
        return {};
      if (!here[expert])
        continue;
      experts.push_back(static_cast<int32_t>(expert));
      replicas.push_back(here[expert]);
      cell.loads.push_back(loads.tokens[expert] / counts[expert] *
                           here[expert]);
    }
    for (int32_t index : balance(cell, std::move(replicas), steps).slots)
      slots.push_back(experts[index]);
  }
  return slots;
}

void LayerPlacer::consider(std::vector<int32_t> slots, double maxLoad,
                           Balanced &best) const {
  if (slots.empty() || largestLoad(slots) > maxLoad * (1 + loadEpsilon))
    return;
  if (countTraffic(slots, space, *trace).sends <
      countTraffic(best.slots, space, *trace).sends)
    best = {std::move(slots), false};
}

Balanced LayerPlacer::placeFreely() const {
  Cell cell = {loads.tokens, space.ranks, space.slotsPerRank};
  Steps steps;
  Balanced balanced = balance(cell, steps);
  if (!trace || space.slotsPerRank >= space.experts)
    return balanced;
  double balancedLoad = largestLoad(balanced.slots);
  double maxLoad = balancedLoad * (1 + options.tolerance);
  // Ranks within a node are loaded unevenly, so that the node gets only half of
  // the tolerance.
  double nodeLoad =
      balancedLoad * (1 + options.tolerance / 2) * space.ranksPerNode();
  Balanced best = balanced;
  std::vector<std::vector<int32_t>> starts = {balanced.slots};
  // Otherwise a rank would hold an expert twice.
  if (space.slotsPerRank <= space.experts / space.nodes)
    starts.push_back(
        placeByNode(dealToNodes({loads.tokens, pairs, space.nodes, nodeLoad})));
  if (balanced.slots.size() <= maxDealtReplicas)
    starts.push_back(placeReplicas(balanced.slots, nodeLoad));
  for (std::vector<int32_t> &slots : starts) {
    if (slots.empty())
      continue;
    lowerTraffic(slots, loads.tokens, space, pairs, maxLoad);
    consider(std::move(slots), maxLoad, best);
  }
  return best;
}
