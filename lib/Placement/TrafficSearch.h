//===- TrafficSearch.h - Less traffic at bounded load -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_TRAFFICSEARCH_H
#define AUTOPAR_LIB_PLACEMENT_TRAFFICSEARCH_H

#include "Balance.h"
#include "NodeTraffic.h"

namespace autopar::placement {

/// Exchanges replicas between nodes as long as this puts more pairs of experts
/// with common tokens on the same node. Every rank keeps a load of at most
/// `maxLoad`, or one below its load before.
void lowerTraffic(std::vector<int32_t> &slots, const std::vector<double> &loads,
                  const PlacementSpace &space, const SquareMatrix &pairs,
                  double maxLoad);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_TRAFFICSEARCH_H
