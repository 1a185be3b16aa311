//===- Exact.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exact.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;

static constexpr int64_t maxSlots = 24;
static constexpr int64_t maxSteps = 200'000;

namespace {

class ExactSearch {
public:
  ExactSearch(const Cell &cell, double bound, double incumbent, Steps steps);

  /// Runs the search. Returns whether it looked at all assignments.
  bool run() {
    chooseCounts(0, cell.slots());
    return steps.left > 0;
  }
  /// The best assignment that was found; empty if none is better than the one
  /// at the start.
  std::vector<int32_t> bestSlots;
  Steps steps;

private:
  bool done() const { return steps.left <= 0 || best <= bound; }
  bool tooHot(double load) const { return load >= best - epsilon; }
  void chooseCounts(size_t index, int64_t slotsLeft);
  void start();
  void place(size_t index, int64_t copy, size_t firstRank);
  void keep();

  const Cell &cell;
  double bound, epsilon, best;
  /// The experts sorted by falling load (`byLoad`), and by falling load per
  /// replica (`byShare`).
  std::vector<int32_t> byLoad, byShare;
  std::vector<int64_t> counts;
  std::vector<double> loads;
  std::vector<std::vector<int32_t>> ranks;
};

} // namespace

ExactSearch::ExactSearch(const Cell &cell, double bound, double incumbent,
                         Steps steps)
    : steps(steps), cell(cell), bound(bound * (1 + loadEpsilon)),
      epsilon(bound * loadEpsilon), best(incumbent), byLoad(cell.loads.size()),
      counts(cell.loads.size()), loads(static_cast<size_t>(cell.ranks)),
      ranks(loads.size()) {
  std::iota(byLoad.begin(), byLoad.end(), 0);
  std::sort(byLoad.begin(), byLoad.end(), [&](int32_t a, int32_t b) {
    return std::pair(-cell.loads[a], a) < std::pair(-cell.loads[b], b);
  });
}

void ExactSearch::chooseCounts(size_t index, int64_t slotsLeft) {
  if (index == byLoad.size()) {
    if (slotsLeft == 0)
      start();
    return;
  }
  int32_t expert = byLoad[index];
  auto others = static_cast<int64_t>(byLoad.size() - index) - 1;
  for (int64_t count = std::min(cell.ranks, slotsLeft - others);
       count >= 1 && !tooHot(cell.loads[expert] / count) && !done(); --count) {
    steps.take(1);
    counts[expert] = count;
    // The remaining experts must be able to fill the remaining slots.
    if (slotsLeft - count <= others * cell.ranks)
      chooseCounts(index + 1, slotsLeft - count);
  }
}

void ExactSearch::start() {
  byShare = byLoad;
  auto share = [&](int32_t expert) {
    return cell.loads[expert] / counts[expert];
  };
  std::sort(byShare.begin(), byShare.end(), [&](int32_t a, int32_t b) {
    return std::pair(-share(a), a) < std::pair(-share(b), b);
  });
  place(0, 0, 0);
}

/// The replicas of an expert go to rising ranks. Of the empty ranks only the
/// first is tried, because they are all alike.
void ExactSearch::place(size_t index, int64_t copy, size_t firstRank) {
  if (index == byShare.size())
    return keep();
  int32_t expert = byShare[index];
  if (copy == counts[expert])
    return place(index + 1, 0, 0);
  double share = cell.loads[expert] / counts[expert];
  for (size_t rank = firstRank; rank < ranks.size() && !done(); ++rank) {
    bool empty = ranks[rank].empty();
    double before = loads[rank];
    if (ranks[rank].size() < static_cast<size_t>(cell.slotsPerRank) &&
        !tooHot(before + share) && steps.take(1)) {
      ranks[rank].push_back(expert);
      loads[rank] += share;
      place(index, copy + 1, rank + 1);
      loads[rank] = before;
      ranks[rank].pop_back();
    }
    if (empty)
      break;
  }
}

void ExactSearch::keep() {
  best = largestLoadOf(loads);
  bestSlots.clear();
  for (const std::vector<int32_t> &rank : ranks)
    bestSlots.insert(bestSlots.end(), rank.begin(), rank.end());
}

void autopar::placement::searchExactly(const Cell &cell, double bound,
                                       Balanced &result, Steps &steps) {
  if (cell.slots() > maxSlots || steps.left <= 0)
    return;
  double largest =
      largestLoadOf(rankLoads(cell.loads, cell.ranks, result.slots));
  Steps some = {std::min(maxSteps, steps.left)};
  ExactSearch search(cell, bound, largest, some);
  result.optimal = search.run();
  steps.take(some.left - search.steps.left);
  if (!search.bestSlots.empty())
    result.slots = std::move(search.bestSlots);
}
