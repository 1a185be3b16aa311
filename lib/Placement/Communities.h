//===- Communities.h - Units that work together on one node -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_COMMUNITIES_H
#define AUTOPAR_LIB_PLACEMENT_COMMUNITIES_H

#include "Balance.h"
#include "NodeTraffic.h"

namespace autopar::placement {

/// Experts, groups or replicas that are assigned to nodes, equally many to
/// each.
struct Units {
  std::vector<double> loads;
  /// Saved traffic if two units are on one node.
  SquareMatrix affinity;
  int64_t nodes = 1;
  /// Load that a node should not exceed.
  double nodeLoad = 0;
};

/// Returns the node of each unit: much affinity within nodes, and no node over
/// its load if the search finds that. Nodes are filled one after the other,
/// each from its busiest unit on; then units are exchanged (Kernighan and Lin's
/// step), with a rising price on overload.
std::vector<int32_t> dealToNodes(const Units &units);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_COMMUNITIES_H
