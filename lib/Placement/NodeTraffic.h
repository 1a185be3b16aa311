//===- NodeTraffic.h - Tokens between nodes ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_NODETRAFFIC_H
#define AUTOPAR_LIB_PLACEMENT_NODETRAFFIC_H

#include "autopar/Placement/Placement.h"

namespace autopar::placement {

struct SquareMatrix {
  explicit SquareMatrix(size_t size) : size(size), values(size * size) {}
  double &at(size_t row, size_t column) { return values[row * size + column]; }
  double at(size_t row, size_t column) const {
    return values[row * size + column];
  }

  size_t size;
  std::vector<double> values;
};

/// Returns for each pair of experts the number of tokens that were routed to
/// both of them; 0 on the diagonal.
SquareMatrix coactivation(int64_t experts, const LayerTrace &trace);

/// Counts the sends that NodeTraffic defines. A token is sent to node n unless
/// it misses all of its experts' replicas there, 1 - product over experts of (1
/// - replicas in n / replicas), and starts on another node, (nodes - 1) /
/// nodes.
NodeTraffic countTraffic(const std::vector<int32_t> &slots,
                         const PlacementSpace &space, const LayerTrace &trace);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_NODETRAFFIC_H
