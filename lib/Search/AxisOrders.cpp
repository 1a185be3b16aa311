//===- AxisOrders.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisOrders.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::search;

/// Returns the axes that have more than one device. The place of the remaining
/// axes does not matter, so that they are not moved.
static AxisOrder movableAxes(const std::vector<int64_t> &sizes) {
  AxisOrder axes;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1)
      axes.push_back(static_cast<uint8_t>(i));
  return axes;
}

uint64_t AxisOrders::countOf(const std::vector<int64_t> &sizes) const {
  uint64_t count = 1;
  for (uint64_t i = 2; all && i <= movableAxes(sizes).size(); ++i)
    count *= i;
  return count;
}

std::vector<int64_t> AxisOrders::placesOf(const std::vector<int64_t> &sizes,
                                          const AxisOrder &order,
                                          bool hasStages) const {
  std::vector<std::vector<int64_t>> places(sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    uint8_t axis = order[i];
    places[axis] = network.placeOf({stride, sizes[axis]});
    // The cost of sends between stages depends on how far neighbouring stages
    // are apart.
    if (hasStages && axis == 0)
      places[axis].push_back(stride);
    stride *= sizes[axis];
  }
  std::vector<int64_t> all;
  for (const std::vector<int64_t> &place : places)
    all.insert(all.end(), place.begin(), place.end());
  return all;
}

const std::vector<OrderClass> &AxisOrders::of(const std::vector<int64_t> &sizes,
                                              bool hasStages) {
  auto [it, isNew] = known.try_emplace({hasStages, sizes});
  std::vector<OrderClass> &classes = it->second;
  if (!isNew)
    return classes;
  AxisOrder whole(sizes.size()), axes = movableAxes(sizes), next = axes;
  std::iota(whole.begin(), whole.end(), 0);
  std::map<std::vector<int64_t>, size_t> classOf;
  do {
    AxisOrder order = whole;
    for (size_t i = 0; i < axes.size(); ++i)
      order[axes[i]] = next[i];
    auto [same, isFirst] =
        classOf.try_emplace(placesOf(sizes, order, hasStages), classes.size());
    if (isFirst)
      classes.push_back({std::move(order), 0});
    ++classes[same->second].count;
  } while (all && std::next_permutation(next.begin(), next.end()));
  return classes;
}
