//===- AxisOrders.h - Ways to lay axes on a machine -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_AXISORDERS_H
#define AUTOPAR_LIB_SEARCH_AXISORDERS_H

#include "autopar/Cost/Route.h"
#include "autopar/Search/SearchSpace.h"

#include <map>

namespace autopar::search {

/// Orders in which every group of devices has the same links.
struct OrderClass {
  /// The first of them.
  AxisOrder order;
  uint64_t count = 1;
};

/// The orders of axes on one machine. Not for several threads.
class AxisOrders {
public:
  /// `network` outlives it.
  AxisOrders(const cost::Network &network, bool all)
      : network(network), all(all) {}

  /// Of axes of these sizes, as plans have them; the first is that of pipeline
  /// stages or not. The first class has the order of the plan.
  const std::vector<OrderClass> &of(const std::vector<int64_t> &sizes,
                                    bool hasStages);
  /// How many orders those are, by their number of axes.
  uint64_t countOf(const std::vector<int64_t> &sizes) const;

private:
  std::vector<int64_t> placesOf(const std::vector<int64_t> &sizes,
                                const AxisOrder &order, bool hasStages) const;

  const cost::Network &network;
  const bool all;
  std::map<std::pair<bool, std::vector<int64_t>>, std::vector<OrderClass>>
      known;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_AXISORDERS_H
