//===- Communities.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Communities.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace autopar;
using namespace autopar::placement;

namespace {

class Partition {
public:
  explicit Partition(const Units &units);

  void seedInOrder();
  /// Fills the nodes greedily. `relative` subtracts the affinity that units
  /// would have by chance, given their affinities to all units, so that busy
  /// units do not attract all others.
  void seedGreedily(bool relative);
  void refine();

  std::vector<int32_t> nodeOf;
  /// Returns how bad the assignment is; lower is better.
  std::tuple<double, double> badness() const { return {overload(), -inside()}; }

private:
  size_t capacity(size_t node) const {
    return (node + 1) * count / nodes - node * count / nodes;
  }
  double over(double load) const {
    return std::max(0.0, load - units.nodeLoad);
  }
  double overload() const;
  double inside() const;
  void fillNode(size_t node, bool relative);
  void sumUp();
  bool exchangePass(double price);
  double gainOf(size_t a, size_t b, double price) const;
  void exchange(size_t a, size_t b);
  double &toNode(size_t unit, size_t node) {
    return gains[unit * nodes + node];
  }
  double toNode(size_t unit, size_t node) const {
    return gains[unit * nodes + node];
  }

  const Units &units;
  /// The steps that one refinement may still take.
  Steps steps;
  size_t count, nodes;
  std::vector<double> degrees, nodeLoads;
  double allDegrees, epsilon;
  /// The affinity of each unit to the units of each node, by unit and node.
  std::vector<double> gains;
};

} // namespace

Partition::Partition(const Units &units)
    : nodeOf(units.loads.size()), units(units), count(units.loads.size()),
      nodes(static_cast<size_t>(units.nodes)), degrees(count),
      gains(count * nodes) {
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      degrees[a] += units.affinity.at(a, b);
  allDegrees = std::accumulate(degrees.begin(), degrees.end(), 0.0);
  epsilon = 1e-9 * allDegrees / static_cast<double>(count * count);
}

double Partition::overload() const {
  double sum = 0;
  for (double load : nodeLoads)
    sum += over(load);
  // An overload below rounding errors counts as none.
  return sum <= 1e-9 * units.nodeLoad ? 0 : sum;
}

double Partition::inside() const {
  double sum = 0;
  for (size_t unit = 0; unit < count; ++unit)
    sum += toNode(unit, nodeOf[unit]);
  return sum;
}

void Partition::sumUp() {
  nodeLoads.assign(nodes, 0);
  gains.assign(count * nodes, 0);
  for (size_t a = 0; a < count; ++a) {
    nodeLoads[nodeOf[a]] += units.loads[a];
    for (size_t b = 0; b < count; ++b)
      toNode(a, nodeOf[b]) += units.affinity.at(a, b);
  }
}

void Partition::seedInOrder() {
  size_t unit = 0;
  for (size_t node = 0; node < nodes; ++node)
    for (size_t i = 0; i < capacity(node); ++i)
      nodeOf[unit++] = static_cast<int32_t>(node);
  sumUp();
}

void Partition::fillNode(size_t node, bool relative) {
  std::vector<double> score(count);
  for (size_t i = 0; i < capacity(node); ++i) {
    size_t best = count;
    for (size_t unit = 0; unit < count; ++unit) {
      const std::vector<double> &order = i ? score : degrees;
      if (nodeOf[unit] < 0 && (best == count || order[unit] > order[best]))
        best = unit;
    }
    nodeOf[best] = static_cast<int32_t>(node);
    double chance = relative && allDegrees > 0 ? degrees[best] / allDegrees : 0;
    for (size_t unit = 0; unit < count; ++unit)
      score[unit] += units.affinity.at(unit, best) - degrees[unit] * chance;
  }
}

void Partition::seedGreedily(bool relative) {
  std::fill(nodeOf.begin(), nodeOf.end(), -1);
  for (size_t node = 0; node < nodes; ++node)
    fillNode(node, relative);
  sumUp();
}

double Partition::gainOf(size_t a, size_t b, double price) const {
  size_t nodeA = nodeOf[a], nodeB = nodeOf[b];
  double saved = toNode(a, nodeB) - toNode(a, nodeA) + toNode(b, nodeA) -
                 toNode(b, nodeB) - 2 * units.affinity.at(a, b);
  double moved = units.loads[a] - units.loads[b];
  double before = over(nodeLoads[nodeA]) + over(nodeLoads[nodeB]);
  double after =
      over(nodeLoads[nodeA] - moved) + over(nodeLoads[nodeB] + moved);
  return saved - price * (after - before);
}

void Partition::exchange(size_t a, size_t b) {
  size_t nodeA = nodeOf[a], nodeB = nodeOf[b];
  double moved = units.loads[a] - units.loads[b];
  nodeLoads[nodeA] -= moved;
  nodeLoads[nodeB] += moved;
  for (size_t unit = 0; unit < count; ++unit) {
    double change = units.affinity.at(unit, b) - units.affinity.at(unit, a);
    toNode(unit, nodeA) += change;
    toNode(unit, nodeB) -= change;
  }
  std::swap(nodeOf[a], nodeOf[b]);
}

bool Partition::exchangePass(double price) {
  bool changed = false;
  for (size_t a = 0; a < count; ++a) {
    size_t partner = count;
    double best = epsilon;
    for (size_t b = 0; b < count; ++b)
      if (nodeOf[a] != nodeOf[b])
        if (double gain = gainOf(a, b, price); gain > best) {
          best = gain;
          partner = b;
        }
    if (partner < count) {
      exchange(a, partner);
      changed = true;
    }
    if (!steps.take(static_cast<int64_t>(count)))
      return false;
  }
  return changed;
}

void Partition::refine() {
  constexpr int maxPasses = 50, raises = 8;
  steps = Steps();
  double load = std::accumulate(units.loads.begin(), units.loads.end(), 0.0);
  double price = 0, start = load > 0 ? allDegrees / load / 16 : 0;
  for (int raise = 0; raise <= raises; ++raise) {
    for (int pass = 0; pass < maxPasses && exchangePass(price); ++pass)
      ;
    if (overload() == 0)
      return;
    price = price == 0 ? start : 4 * price;
  }
}

std::vector<int32_t> autopar::placement::dealToNodes(const Units &units) {
  Partition partition(units);
  std::vector<int32_t> best;
  std::tuple<double, double> least;
  auto keepBetter = [&] {
    partition.refine();
    if (best.empty() || partition.badness() < least) {
      best = partition.nodeOf;
      least = partition.badness();
    }
  };
  partition.seedGreedily(/*relative=*/true);
  keepBetter();
  partition.seedGreedily(/*relative=*/false);
  keepBetter();
  partition.seedInOrder();
  keepBetter();
  return best;
}
