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

/// Experts, groups or replicas that are dealt to nodes, as equally many to each
/// as there are.
struct Units {
  std::vector<double> loads;
  /// What is saved where two are on one node.
  SquareMatrix affinity;
  int64_t nodes = 1;
  /// What a node should not exceed.
  double nodeLoad = 0;
};

/// By unit, its node: much affinity within nodes, no node over its load where
/// that is found. Nodes are filled one after the other, each from its busiest
/// unit on, then units are exchanged (Kernighan and Lin's step), with a rising
/// price on overload.
std::vector<int32_t> dealToNodes(const Units &units);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_COMMUNITIES_H
