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

/// A class of orders of axes: in all of them, every group of devices has the
/// same links.
struct OrderClass {
  /// The first order of the class, and the number of orders in it.
  AxisOrder order;
  uint64_t count = 1;
};

/// Lists the orders of axes on one machine. The class is not thread-safe.
class AxisOrders {
public:
  /// `network` must outlive the object.
  AxisOrders(const cost::Network &network, bool all)
      : network(network), all(all) {}

  /// Returns the classes of equivalent orders for axes of these sizes; the
  /// first class contains the order of the plan. `hasStages` says whether the
  /// first axis is that of pipeline stages.
  const std::vector<OrderClass> &of(const std::vector<int64_t> &sizes,
                                    bool hasStages);
  /// Returns the number of orders that these axes have.
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
