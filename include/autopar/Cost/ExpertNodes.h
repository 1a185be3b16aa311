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

/// Returns the number of machine nodes over which the ranks of an expert group
/// are spread, with equally many neighbouring ranks in each, as
/// `PlacementSpace` assumes. Returns nothing for other layouts: an axis that is
/// not of the group lies between its axes, or one node contains parts of two
/// groups.
std::optional<int64_t> nodesOf(const GroupLayout &layout,
                               int64_t devicesPerNode);

} // namespace autopar::cost

#endif // AUTOPAR_COST_EXPERTNODES_H
