//===- ExpertNodes.h - Where the devices that share experts lie -*- C++ -*-===//
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

/// Over how many nodes of `devicesPerNode` devices the ranks of a group lie, as
/// many in each and neighbours there, as `PlacementSpace` has it. Nothing where
/// they lie otherwise: an axis that is no part of the group between its own,
/// or a node that holds a part of a group and a part of the next one.
std::optional<int64_t> nodesOf(const GroupLayout &layout,
                               int64_t devicesPerNode);

} // namespace autopar::cost

#endif // AUTOPAR_COST_EXPERTNODES_H
