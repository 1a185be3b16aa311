//===- NodeTraffic.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeTraffic.h"

using namespace autopar;
using namespace autopar::placement;

SquareMatrix autopar::placement::coactivation(int64_t experts,
                                              const LayerTrace &trace) {
  SquareMatrix pairs(static_cast<size_t>(experts));
  for (const RoutedTokens &routed : trace.routed)
    for (size_t i = 0; i < routed.experts.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        pairs.at(routed.experts[i], routed.experts[j]) += routed.tokens;
        pairs.at(routed.experts[j], routed.experts[i]) += routed.tokens;
      }
  return pairs;
}

/// Returns for each expert the nodes that have replicas of it, each with its
/// share of all replicas of this expert.
static std::vector<std::vector<std::pair<int64_t, double>>>
nodesByExpert(const std::vector<int32_t> &slots, const PlacementSpace &space) {
  std::vector<std::vector<std::pair<int64_t, double>>> nodes(
      static_cast<size_t>(space.experts));
  std::vector<double> counts(nodes.size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    auto &of = nodes[slots[slot]];
    int64_t node = space.nodeOfSlot(static_cast<int64_t>(slot));
    if (of.empty() || of.back().first != node)
      of.push_back({node, 0});
    ++of.back().second;
    ++counts[slots[slot]];
  }
  for (size_t expert = 0; expert < nodes.size(); ++expert)
    for (auto &[node, part] : nodes[expert])
      part /= counts[expert];
  return nodes;
}

NodeTraffic autopar::placement::countTraffic(const std::vector<int32_t> &slots,
                                             const PlacementSpace &space,
                                             const LayerTrace &trace) {
  auto nodes = nodesByExpert(slots, space);
  std::vector<double> missed(static_cast<size_t>(space.nodes), 1);
  double remote =
      static_cast<double>(space.nodes - 1) / static_cast<double>(space.nodes);
  NodeTraffic traffic;
  for (const RoutedTokens &routed : trace.routed) {
    for (int32_t expert : routed.experts)
      for (auto [node, part] : nodes[expert])
        missed[node] *= 1 - part;
    double reached = 0;
    for (int32_t expert : routed.experts)
      for (auto [node, part] : nodes[expert]) {
        reached += 1 - missed[node];
        missed[node] = 1;
      }
    traffic.sends += routed.tokens * remote * reached;
    traffic.tokens += routed.tokens;
  }
  return traffic;
}
