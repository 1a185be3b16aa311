//===- Packer.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packer.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace autopar;

/// A hottest rank this near to the bound is not improved further.
static constexpr double closeEnough = 2e-4;
/// Replacements that are followed up, best first.
static constexpr size_t maxFollowed = 8;
/// Slots of a rank of which pairs are exchanged.
static constexpr size_t maxPairedSlots = 64;

Packer::Packer(const Cell &cell, std::vector<int64_t> counts, double bound)
    : cell(cell), counts(std::move(counts)), target(bound * (1 + closeEnough)),
      epsilon(bound * loadEpsilon),
      width(static_cast<size_t>(cell.slotsPerRank)),
      held(static_cast<size_t>(cell.slots()), -1),
      loads(static_cast<size_t>(cell.ranks)) {}

bool Packer::holds(size_t rank, int32_t expert, size_t except,
                   size_t except2) const {
  for (size_t slot = begin(rank); slot < end(rank); ++slot)
    if (held[slot] == expert && slot != except && slot != except2)
      return true;
  return false;
}

size_t Packer::hottestRank() const {
  return static_cast<size_t>(std::max_element(loads.begin(), loads.end()) -
                             loads.begin());
}

void Packer::sumUp(size_t rank) {
  loads[rank] = 0;
  for (size_t slot = begin(rank); slot < end(rank); ++slot)
    if (held[slot] >= 0)
      loads[rank] += share(held[slot]);
}

//===----------------------------------------------------------------------===//
// A first assignment
//===----------------------------------------------------------------------===//

/// Of the ranks with a free slot that do not hold the expert yet.
std::optional<size_t> Packer::coolest(const std::vector<bool> &holding) const {
  std::optional<size_t> best;
  for (size_t rank = 0; rank < loads.size(); ++rank)
    if ((!best || loads[rank] < loads[*best]) && held[end(rank) - 1] < 0 &&
        !holding[rank])
      best = rank;
  return best;
}

/// All ranks with a free slot hold the expert already: some full rank does not,
/// and as it has more experts than such a rank, one of them can move there.
size_t Packer::makeRoomFor(int32_t expert) {
  size_t open = 0;
  while (held[end(open) - 1] >= 0)
    ++open;
  for (size_t slot = 0;; ++slot) {
    size_t rank = rankOf(slot);
    if (rank == open || holds(rank, expert) || holds(open, held[slot]) ||
        held[end(rank) - 1] < 0)
      continue;
    put(open, held[slot]);
    // The last slot is the free one.
    held[slot] = held[end(rank) - 1];
    held[end(rank) - 1] = -1;
    sumUp(rank);
    return rank;
  }
}

void Packer::put(size_t rank, int32_t expert) {
  // Slots are filled in order.
  auto first = held.begin() + static_cast<ptrdiff_t>(begin(rank));
  *std::partition_point(first, first + static_cast<ptrdiff_t>(width),
                        [](int32_t other) { return other >= 0; }) = expert;
  loads[rank] += share(expert);
}

void Packer::fill() {
  std::vector<int32_t> experts(cell.loads.size());
  std::iota(experts.begin(), experts.end(), 0);
  std::sort(experts.begin(), experts.end(), [&](int32_t a, int32_t b) {
    return std::pair(-share(a), a) < std::pair(-share(b), b);
  });
  for (int32_t expert : experts) {
    std::vector<bool> holding(loads.size());
    for (int64_t i = 0; i < counts[expert]; ++i) {
      std::optional<size_t> found = coolest(holding);
      size_t rank = found ? *found : makeRoomFor(expert);
      put(rank, expert);
      holding[rank] = true;
    }
  }
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

void Packer::apply(const Exchange &exchange) {
  for (size_t i = 0; i < exchange.count; ++i)
    std::swap(held[exchange.from[i]], held[exchange.to[i]]);
  sumUp(rankOf(exchange.from[0]));
  sumUp(rankOf(exchange.to[0]));
}

bool Packer::exchangeOne(size_t hot, Steps &steps) {
  Exchange best = {loads[hot] - epsilon, {}, {}};
  for (size_t to = 0; to < held.size(); ++to) {
    size_t rank = rankOf(to);
    double gap = loads[hot] - loads[rank];
    if (gap <= epsilon)
      continue;
    if (!steps.take(static_cast<int64_t>(width)))
      break;
    for (size_t from = begin(hot); from < end(hot); ++from) {
      double moved = share(held[from]) - share(held[to]);
      double worse = std::max(loads[hot] - moved, loads[rank] + moved);
      if (worse < best.worse && !holds(rank, held[from], to) &&
          !holds(hot, held[to], from))
        best = {worse, {from}, {to}, 1};
    }
  }
  if (best.count)
    apply(best);
  return best.count;
}

std::vector<Packer::Pair> Packer::pairsOf(size_t rank) const {
  std::vector<Pair> pairs;
  for (size_t a = begin(rank); a < end(rank); ++a)
    for (size_t b = a + 1; b < end(rank); ++b)
      pairs.push_back({share(held[a]) + share(held[b]), {a, b}});
  std::sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) {
    return std::tie(a.sum, a.slots[0], a.slots[1]) <
           std::tie(b.sum, b.slots[0], b.slots[1]);
  });
  return pairs;
}

bool Packer::fits(const Pair &from, const Pair &to) const {
  size_t hot = rankOf(from.slots[0]), rank = rankOf(to.slots[0]);
  for (size_t i = 0; i < 2; ++i)
    if (holds(rank, held[from.slots[i]], to.slots[0], to.slots[1]) ||
        holds(hot, held[to.slots[i]], from.slots[0], from.slots[1]))
      return false;
  return true;
}

void Packer::exchangeTwoWith(size_t other, const std::vector<Pair> &hotPairs,
                             Exchange &best) const {
  double hot = loads[rankOf(hotPairs[0].slots[0])];
  double gap = hot - loads[other];
  std::vector<Pair> pairs = pairsOf(other);
  for (const Pair &from : hotPairs) {
    auto tryOne = [&](const Pair &to) {
      double moved = from.sum - to.sum;
      double worse = std::max(hot - moved, loads[other] + moved);
      if (worse < best.worse && fits(from, to))
        best = {worse,
                {from.slots[0], from.slots[1]},
                {to.slots[0], to.slots[1]},
                2};
    };
    // Those that come nearest to halving the gap.
    auto at = std::lower_bound(
        pairs.begin(), pairs.end(), from.sum - gap / 2,
        [](const Pair &pair, double sum) { return pair.sum < sum; });
    auto first = at - std::min<ptrdiff_t>(at - pairs.begin(), 2);
    auto last = at + std::min<ptrdiff_t>(pairs.end() - at, 2);
    std::for_each(first, last, tryOne);
  }
}

bool Packer::exchangeTwo(size_t hot, Steps &steps) {
  if (width < 2 || width > maxPairedSlots)
    return false;
  std::vector<Pair> hotPairs = pairsOf(hot);
  Exchange best = {loads[hot] - epsilon, {}, {}};
  for (size_t rank = 0; rank < loads.size(); ++rank)
    if (loads[hot] - loads[rank] > epsilon) {
      exchangeTwoWith(rank, hotPairs, best);
      if (!steps.take(static_cast<int64_t>(hotPairs.size() * 16)))
        break;
    }
  if (best.count)
    apply(best);
  return best.count;
}

void Packer::descend(Steps &steps) {
  while (steps.left > 0) {
    size_t hot = hottestRank();
    if (loads[hot] <= target ||
        (!exchangeOne(hot, steps) && !exchangeTwo(hot, steps)))
      return;
  }
}

//===----------------------------------------------------------------------===//
// Other numbers of replicas
//===----------------------------------------------------------------------===//

/// The hottest rank if `slot` held `expert` instead.
double Packer::worstAfter(size_t slot, int32_t expert) {
  int32_t old = held[slot];
  double load = cell.loads[old], newLoad = cell.loads[expert];
  double rise = load / (counts[old] - 1) - share(old);
  double newShare = newLoad / (counts[expert] + 1);
  double fall = share(expert) - newShare;
  double worst = 0;
  for (size_t rank = 0; rank < loads.size(); ++rank) {
    double tokens = loads[rank];
    if (rank == rankOf(slot))
      tokens += newShare - share(old);
    else if (holds(rank, old))
      tokens += rise;
    if (holds(rank, expert))
      tokens -= fall;
    worst = std::max(worst, tokens);
  }
  return worst;
}

void Packer::replace(size_t slot, int32_t expert) {
  --counts[held[slot]];
  ++counts[expert];
  held[slot] = expert;
  for (size_t rank = 0; rank < loads.size(); ++rank)
    sumUp(rank);
}

/// Replicas that leave the hottest rank, and experts of it that get another.
std::vector<Packer::Replacement> Packer::replacements(Steps &steps) {
  std::vector<Replacement> found;
  size_t hot = hottestRank();
  auto cost = static_cast<int64_t>(held.size());
  auto add = [&](size_t slot, int32_t expert) {
    if (!holds(rankOf(slot), expert) && steps.take(cost))
      found.push_back({worstAfter(slot, expert), slot, expert});
  };
  for (size_t slot = 0; slot < held.size() && steps.left > 0; ++slot) {
    if (counts[held[slot]] < 2)
      continue;
    if (rankOf(slot) == hot)
      for (size_t expert = 0; expert < counts.size(); ++expert)
        add(slot, static_cast<int32_t>(expert));
    else
      for (size_t other = begin(hot); other < end(hot); ++other)
        add(slot, held[other]);
  }
  std::sort(found.begin(), found.end(),
            [](const Replacement &a, const Replacement &b) {
              return std::tie(a.worst, a.slot, a.expert) <
                     std::tie(b.worst, b.slot, b.expert);
            });
  found.resize(std::min(found.size(), maxFollowed));
  return found;
}

bool Packer::replaceOne(Steps &steps) {
  double before = hottest();
  for (const Replacement &replacement : replacements(steps)) {
    Packer saved = *this;
    replace(replacement.slot, replacement.expert);
    descend(steps);
    if (hottest() < before - epsilon)
      return true;
    takeFrom(saved);
  }
  return false;
}

void Packer::takeFrom(const Packer &other) {
  held = other.held;
  counts = other.counts;
  loads = other.loads;
}

void Packer::pack(Steps &steps) {
  fill();
  descend(steps);
}

void Packer::replaceReplicas(Steps &steps) {
  while (!isCloseToBound() && steps.left > 0 && replaceOne(steps))
    ;
}
