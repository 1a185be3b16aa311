//===- ExpertNodes.h - Nodes of the ranks that share experts ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_EXPERTNODES_H
#define AUTOPAR_COST_EXPERTNODES_H

#include "autopar/Cost/Route.h"

#include <optional>

namespace autopar::cost {

/// The number of nodes of `devicesPerNode` devices over which the ranks of a
/// group are spread, equally many neighbours in each, as `PlacementSpace`
/// assumes. Returns nothing for other layouts: an axis outside of the group
/// lies between its axes, or a node has parts of two groups.
std::optional<int64_t> nodesOf(const GroupLayout &layout,
                               int64_t devicesPerNode);

} // namespace autopar::cost

#endif // AUTOPAR_COST_EXPERTNODES_H
