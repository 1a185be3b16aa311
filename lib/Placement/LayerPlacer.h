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

/// Places the experts of a layer by their loads and, if there is one, by the
/// trace of routed tokens.
class LayerPlacer {
public:
  LayerPlacer(const LayerLoads &loads, const PlacementSpace &space,
              const PlacementOptions &options, const LayerTrace *trace);

  /// Returns the expert of each slot. `optimal` has the meaning that it has in
  /// `LayerPlacement`, except that the bound may prove more.
  Balanced place() const;

private:
  using NodeOf = std::vector<int32_t>;

  Balanced placeGroups() const;
  Balanced placeFreely() const;
  /// Returns a placement that replicates the experts of each node within this
  /// node.
  std::vector<int32_t> placeByNode(const NodeOf &nodeOfExpert) const;
  /// Returns a placement with the replicas of `balanced`, assigned to nodes;
  /// empty if two replicas of an expert would be on the same rank.
  std::vector<int32_t> placeReplicas(const std::vector<int32_t> &balanced,
                                     double nodeLoad) const;
  NodeOf expertsByGroup(const NodeOf &nodeOfGroup) const;
  /// Replaces `best` by `slots` if these keep every rank within its limit and
  /// send fewer tokens to other nodes.
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
