//===- Exchanges.cpp - Exchanges that unload the most loaded rank
//-----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packer.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::placement;

/// The largest number of slots per rank for which pairs of slots are exchanged.
static constexpr size_t maxPairedSlots = 64;
/// Sums of shares that differ by less than this fraction may differ only by
/// rounding.
static constexpr double rounding = 1e-15;

static bool mayReach(double tokens, double limit) {
  return tokens * (1 - rounding) <= limit;
}

//===----------------------------------------------------------------------===//
// Orders of slots and ranks
//===----------------------------------------------------------------------===//

void Packer::sortAll() {
  for (size_t rank = 0; rank < loads.size(); ++rank)
    sortSlots(rank);
  std::sort(falling.begin(), falling.end(), [&](size_t a, size_t b) {
    return std::pair(-loads[a], a) < std::pair(-loads[b], b);
  });
}

void Packer::sortSlots(size_t rank) {
  auto first = rising.begin() + static_cast<ptrdiff_t>(begin(rank));
  auto last = first + static_cast<ptrdiff_t>(width);
  for (auto it = first; it != last; ++it)
    it->share = share(held[it->slot]);
  std::sort(first, last,
            [](const Slot &a, const Slot &b) { return a.share < b.share; });
}

/// Moves a rank to its place in the order by load, after its load has changed.
void Packer::sortRank(size_t rank) {
  auto comesBefore = [&](size_t a, size_t b) {
    return loads[a] > loads[b] || (loads[a] == loads[b] && a < b);
  };
  auto at = std::find(falling.begin(), falling.end(), rank);
  for (; at != falling.begin() && comesBefore(rank, at[-1]); --at)
    std::iter_swap(at, at - 1);
  for (; at + 1 != falling.end() && comesBefore(at[1], rank); ++at)
    std::iter_swap(at, at + 1);
}

void Packer::apply(const Exchange &exchange) {
  for (size_t i = 0; i < exchange.count; ++i)
    std::swap(held[exchange.from[i]], held[exchange.to[i]]);
  for (size_t slot : {exchange.from[0], exchange.to[0]}) {
    size_t rank = rankOf(slot);
    sumUp(rank);
    sortSlots(rank);
    sortRank(rank);
  }
}

/// Returns the number of ranks with which the most loaded rank may exchange
/// replicas.
size_t Packer::lessLoadedRanks() const {
  size_t first = 1;
  while (first < falling.size() &&
         largestLoad() - loads[falling[first]] <= epsilon)
    ++first;
  return falling.size() - first;
}

/// Calls `exchangeWith` for those of the first `end` ranks that may improve on
/// `best`, the least loaded first. An exchange never leaves the higher of the
/// two loads below their mean.
template <typename ExchangeWith>
void Packer::exchangeWithRanks(size_t end, const Exchange &best,
                               ExchangeWith exchangeWith) const {
  for (auto rank = falling.rbegin(); rank != falling.rend(); ++rank) {
    double load = loads[*rank];
    if (largestLoad() - load <= epsilon ||
        !mayReach((largestLoad() + load) / 2, best.worse))
      return;
    if (*rank < end)
      exchangeWith(*rank);
  }
}

//===----------------------------------------------------------------------===//
// Exchanging one slot for another
//===----------------------------------------------------------------------===//

/// Takes the steps for every slot that the most loaded rank may exchange.
/// Returns the first slot for which the steps do not suffice.
size_t Packer::takeSlots(Steps &steps) const {
  auto each = static_cast<int64_t>(width);
  if (steps.takeAll(static_cast<int64_t>(lessLoadedRanks()) * each * each))
    return held.size();
  for (size_t slot = 0; slot < held.size(); ++slot)
    if (largestLoad() - loads[rankOf(slot)] > epsilon && !steps.take(each))
      return slot;
  return held.size();
}

/// Of equally good exchanges, the one of the first slots is kept.
void Packer::tryOne(size_t from, size_t to, double worse,
                    Exchange &best) const {
  bool better = worse < best.worse;
  if (best.count && worse == best.worse)
    better = std::tie(to, from) < std::tie(best.to[0], best.from[0]);
  if (better && !holds(rankOf(to), held[from], to) &&
      !holds(rankOf(from), held[to], from))
    best = {worse, {from}, {to}, 1};
}

void Packer::exchangeOneWith(size_t other, size_t endSlot,
                             Exchange &best) const {
  double most = largestLoad(), less = loads[other], half = (most - less) / 2;
  // Tries to exchange two slots. Returns false if the loads end up too far
  // apart.
  auto tryOneOf = [&](const Slot &from, const Slot &to) {
    double moved = from.share - to.share;
    double worse = std::max(most - moved, less + moved);
    if (!mayReach(worse, best.worse))
      return false;
    if (to.slot < endSlot)
      tryOne(from.slot, to.slot, worse, best);
    return true;
  };
  const Slot *first = rising.data() + begin(other), *last = first + width;
  // If the share of the slot that leaves the most loaded rank rises, the share
  // that evens out both ranks rises too.
  const Slot *even = first;
  for (size_t i = begin(mostLoadedRank()); i < end(mostLoadedRank()); ++i) {
    const Slot &from = rising[i];
    while (even != last && even->share < from.share - half)
      ++even;
    for (const Slot *to = even; to != last && tryOneOf(from, *to);)
      ++to;
    for (const Slot *to = even; to != first && tryOneOf(from, to[-1]);)
      --to;
  }
}

bool Packer::exchangeOne(Steps &steps) {
  Exchange best = {largestLoad() - epsilon, {}, {}};
  size_t endSlot = takeSlots(steps);
  exchangeWithRanks((endSlot + width - 1) / width, best,
                    [&](size_t rank) { exchangeOneWith(rank, endSlot, best); });
  if (best.count)
    apply(best);
  return best.count;
}

//===----------------------------------------------------------------------===//
// Exchanging two slots for two others
//===----------------------------------------------------------------------===//

void Packer::findPairs(size_t rank, std::vector<Pair> &pairs) const {
  pairs.clear();
  for (size_t a = begin(rank); a < end(rank); ++a)
    for (size_t b = a + 1; b < end(rank); ++b)
      pairs.push_back({share(held[a]) + share(held[b]), {a, b}});
  std::sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) {
    return std::tie(a.sum, a.slots[0], a.slots[1]) <
           std::tie(b.sum, b.slots[0], b.slots[1]);
  });
}

bool Packer::fits(const Pair &from, const Pair &to) const {
  size_t fullest = rankOf(from.slots[0]), rank = rankOf(to.slots[0]);
  for (size_t i = 0; i < 2; ++i)
    if (holds(rank, held[from.slots[i]], to.slots[0], to.slots[1]) ||
        holds(fullest, held[to.slots[i]], from.slots[0], from.slots[1]))
      return false;
  return true;
}

/// Tries to exchange two slots for two slots of rank `other`. Of equally good
/// exchanges with the first rank, the first one is kept.
void Packer::exchangeTwoWith(size_t other, const std::vector<Pair> &ownPairs,
                             const std::vector<Pair> &pairs,
                             Exchange &best) const {
  double most = largestLoad(), less = loads[other], half = (most - less) / 2;
  auto even = pairs.begin();
  for (const Pair &from : ownPairs) {
    // The pairs of slots that come nearest to halving the difference of the
    // loads.
    while (even != pairs.end() && even->sum < from.sum - half)
      ++even;
    auto first = even - std::min<ptrdiff_t>(even - pairs.begin(), 2);
    auto last = even + std::min<ptrdiff_t>(pairs.end() - even, 2);
    for (auto to = first; to != last; ++to) {
      double moved = from.sum - to->sum;
      double worse = std::max(most - moved, less + moved);
      if (worse > best.worse)
        continue;
      bool better =
          worse < best.worse || (best.count && other < rankOf(best.to[0]));
      if (better && fits(from, *to))
        best = {worse,
                {from.slots[0], from.slots[1]},
                {to->slots[0], to->slots[1]},
                2};
    }
  }
}

/// Takes `each` steps for every rank with which the most loaded rank may
/// exchange. Returns the end of the ranks for which the steps suffice.
size_t Packer::takeRanks(int64_t each, Steps &steps) const {
  if (steps.takeAll(static_cast<int64_t>(lessLoadedRanks()) * each))
    return loads.size();
  for (size_t rank = 0; rank < loads.size(); ++rank)
    if (largestLoad() - loads[rank] > epsilon && !steps.take(each))
      return rank + 1;
  return loads.size();
}

bool Packer::exchangeTwo(Steps &steps) {
  if (width < 2 || width > maxPairedSlots)
    return false;
  std::vector<Pair> ownPairs, pairs;
  findPairs(mostLoadedRank(), ownPairs);
  Exchange best = {largestLoad() - epsilon, {}, {}};
  size_t end = takeRanks(static_cast<int64_t>(ownPairs.size() * 16), steps);
  exchangeWithRanks(end, best, [&](size_t rank) {
    findPairs(rank, pairs);
    exchangeTwoWith(rank, ownPairs, pairs, best);
  });
  if (best.count)
    apply(best);
  return best.count;
}

void Packer::descend(Steps &steps) {
  while (steps.left > 0 && largestLoad() > target)
    if (!exchangeOne(steps) && !exchangeTwo(steps))
      return;
}
