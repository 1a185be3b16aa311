//===- LayerPlacer.h - The experts of one layer -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_LAYERPLACER_H
#define AUTOPAR_LIB_PLACEMENT_LAYERPLACER_H

#include "autopar/Placement/Placement.h"

#include "Balance.h"
#include "NodeTraffic.h"

namespace autopar::placement {

/// Follows the loads of a layer, and its trace where there is one.
class LayerPlacer {
public:
  LayerPlacer(const LayerLoads &loads, const PlacementSpace &space,
              const PlacementOptions &options, const LayerTrace *trace);

  /// The slots; `optimal` as LayerPlacement has it, except where the bound
  /// proves it.
  Balanced place() const;

private:
  using NodeOf = std::vector<int32_t>;

  Balanced placeGroups() const;
  Balanced placeFreely() const;
  /// Replicates the experts of each node within it.
  std::vector<int32_t> placeByNode(const NodeOf &nodeOfExpert) const;
  /// Keeps the replicas of `balanced` and deals them to nodes; empty where that
  /// would put two of an expert on one rank.
  std::vector<int32_t> placeReplicas(const std::vector<int32_t> &balanced,
                                     double nodeLoad) const;
  NodeOf expertsByGroup(const NodeOf &nodeOfGroup) const;
  /// Takes `slots` instead of `best` where they are cool enough and send less.
  void consider(std::vector<int32_t> slots, double maxLoad,
                Balanced &best) const;
  double hottest(const std::vector<int32_t> &slots) const {
    return hottestOf(rankLoads(loads.tokens, space.ranks, slots));
  }

  const LayerLoads &loads;
  const PlacementSpace &space;
  const PlacementOptions &options;
  const LayerTrace *trace;
  SquareMatrix pairs;
};

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_LAYERPLACER_H
