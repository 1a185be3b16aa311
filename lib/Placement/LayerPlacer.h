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

/// Places the experts of a layer by its loads, and by its trace if there is
/// one.
class LayerPlacer {
public:
  LayerPlacer(const LayerLoads &loads, const PlacementSpace &space,
              const PlacementOptions &options, const LayerTrace *trace);

  /// Returns the slots; `optimal` means the same as in LayerPlacement, unless
  /// the bound proves it.
  Balanced place() const;

private:
  using NodeOf = std::vector<int32_t>;

  Balanced placeGroups() const;
  Balanced placeFreely() const;
  /// Replicates the experts of each node within the node.
  std::vector<int32_t> placeByNode(const NodeOf &nodeOfExpert) const;
  /// Keeps the replicas of `balanced` and assigns them to nodes; empty if that
  /// would put two replicas of an expert on one rank.
  std::vector<int32_t> placeReplicas(const std::vector<int32_t> &balanced,
                                     double nodeLoad) const;
  NodeOf expertsByGroup(const NodeOf &nodeOfGroup) const;
  /// Replaces `best` by `slots` if these exceed no rank's limit and send less.
  void consider(std::vector<int32_t> slots, double maxLoad,
                Balanced &best) const;
  double largestLoad(const std::vector<int32_t> &slots) const {
    return largestLoadOf(rankLoads(loads.tokens, space.ranks, slots));
  }

  const LayerLoads &loads;
  const PlacementSpace &space;
  const PlacementOptions &options;
  const LayerTrace *trace;
  SquareMatrix pairs;
};

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_LAYERPLACER_H
