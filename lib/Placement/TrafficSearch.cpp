//===- TrafficSearch.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrafficSearch.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::placement;

namespace {

/// Maximises the tokens that find two of their experts on one node: the sum
/// over pairs of pairs(e, f) * sum over n of p(e, n) p(f, n), where p(e, n) is
/// the share of e's replicas on node n.
class TrafficSearch {
public:
  TrafficSearch(std::vector<int32_t> &slots, const std::vector<double> &loads,
                const PlacementSpace &space, const SquareMatrix &pairs,
                double maxLoad);
  /// Tries exchanges once for all slots. Returns whether it changed anything.
  bool pass(Steps &steps);

private:
  size_t rankOf(size_t slot) const { return slot / width; }
  size_t nodeOf(size_t slot) const {
    return static_cast<size_t>(space.nodeOfSlot(static_cast<int64_t>(slot)));
  }
  double near(int32_t expert, size_t node) const {
    return together[expert * nodes + node];
  }
  bool holds(size_t rank, int32_t expert) const {
    auto first = slots.begin() + static_cast<ptrdiff_t>(rank * width);
    return std::find(first, first + static_cast<ptrdiff_t>(width), expert) !=
           first + static_cast<ptrdiff_t>(width);
  }
  double gainOf(size_t a, size_t b) const;
  bool fits(size_t a, size_t b) const;
  void exchange(size_t a, size_t b);
  void shift(int32_t expert, size_t from, size_t to);

  std::vector<int32_t> &slots;
  const PlacementSpace &space;
  const SquareMatrix &pairs;
  double maxLoad, epsilon = 0;
  size_t width, nodes;
  std::vector<double> counts, shares, ranks;
  /// For each expert and node, the sum over f of pairs(expert, f) * p(f, node).
  std::vector<double> together;
};

} // namespace

TrafficSearch::TrafficSearch(std::vector<int32_t> &slots,
                             const std::vector<double> &loads,
                             const PlacementSpace &space,
                             const SquareMatrix &pairs, double maxLoad)
    : slots(slots), space(space), pairs(pairs), maxLoad(maxLoad),
      width(static_cast<size_t>(space.slotsPerRank)),
      nodes(static_cast<size_t>(space.nodes)), counts(loads.size()),
      shares(loads), ranks(rankLoads(loads, space.ranks, slots)),
      together(loads.size() * nodes) {
  for (int32_t expert : slots)
    ++counts[expert];
  for (size_t expert = 0; expert < loads.size(); ++expert) {
    shares[expert] /= counts[expert];
    for (size_t other = 0; other < loads.size(); ++other)
      epsilon += 1e-12 * pairs.at(expert, other);
  }
  for (size_t slot = 0; slot < slots.size(); ++slot)
    for (size_t expert = 0; expert < loads.size(); ++expert)
      together[expert * nodes + nodeOf(slot)] +=
          pairs.at(slots[slot], expert) / counts[slots[slot]];
}

double TrafficSearch::gainOf(size_t a, size_t b) const {
  int32_t one = slots[a], two = slots[b];
  size_t from = nodeOf(a), to = nodeOf(b);
  return (near(one, to) - near(one, from)) / counts[one] +
         (near(two, from) - near(two, to)) / counts[two] -
         2 * pairs.at(one, two) / (counts[one] * counts[two]);
}

bool TrafficSearch::fits(size_t a, size_t b) const {
  size_t from = rankOf(a), to = rankOf(b);
  double moved = shares[slots[a]] - shares[slots[b]];
  auto allowed = [&](double after, double before) {
    return after <= maxLoad || after <= before;
  };
  return allowed(ranks[from] - moved, ranks[from]) &&
         allowed(ranks[to] + moved, ranks[to]) && !holds(to, slots[a]) &&
         !holds(from, slots[b]);
}

void TrafficSearch::shift(int32_t expert, size_t from, size_t to) {
  for (size_t other = 0; other < counts.size(); ++other) {
    double part = pairs.at(expert, other) / counts[expert];
    together[other * nodes + from] -= part;
    together[other * nodes + to] += part;
  }
}

void TrafficSearch::exchange(size_t a, size_t b) {
  double moved = shares[slots[a]] - shares[slots[b]];
  ranks[rankOf(a)] -= moved;
  ranks[rankOf(b)] += moved;
  shift(slots[a], nodeOf(a), nodeOf(b));
  shift(slots[b], nodeOf(b), nodeOf(a));
  std::swap(slots[a], slots[b]);
}

bool TrafficSearch::pass(Steps &steps) {
  bool changed = false;
  for (size_t a = 0; a < slots.size(); ++a) {
    size_t partner = slots.size();
    double best = epsilon;
    for (size_t b = 0; b < slots.size(); ++b)
      if (nodeOf(a) != nodeOf(b) && slots[a] != slots[b])
        if (double gain = gainOf(a, b); gain > best && fits(a, b)) {
          best = gain;
          partner = b;
        }
    if (partner < slots.size()) {
      exchange(a, partner);
      changed = true;
    }
    if (!steps.take(static_cast<int64_t>(slots.size())))
      return false;
  }
  return changed;
}

void autopar::placement::lowerTraffic(std::vector<int32_t> &slots,
                                      const std::vector<double> &loads,
                                      const PlacementSpace &space,
                                      const SquareMatrix &pairs,
                                      double maxLoad) {
  constexpr int maxPasses = 20;
  Steps steps;
  TrafficSearch search(slots, loads, space, pairs, maxLoad);
  for (int i = 0; i < maxPasses && search.pass(steps); ++i)
    ;
}
