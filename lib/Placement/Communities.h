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

/// Units (experts, groups of experts or replicas) that are to be assigned to
/// nodes, the same number to each node.
struct Units {
  std::vector<double> loads;
  /// For two units, the traffic that is saved if both are on the same node.
  SquareMatrix affinity;
  int64_t nodes = 1;
  /// The load that a node should not exceed.
  double nodeLoad = 0;
};

/// Returns the node of each unit, such that affinity within nodes is high and,
/// if the search finds such an assignment, no node exceeds its load. Nodes are
/// filled one after the other, each beginning with its busiest unit; then units
/// are exchanged (Kernighan and Lin's step), with a rising price on overload.
std::vector<int32_t> dealToNodes(const Units &units);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_COMMUNITIES_H
