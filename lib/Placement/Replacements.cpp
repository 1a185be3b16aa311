//===- Replacements.cpp - Other numbers of replicas -----------------------===//
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

/// The number of replacements that are followed up, the best first.
static constexpr size_t maxFollowed = 8;

/// Computes the loads of ranks for the case that a slot holds another expert.
class Packer::Replacer {
public:
  explicit Replacer(const Packer &packer);

  /// Returns what the maximum load would be if `slot` held `expert` instead of
  /// its current expert.
  double worstAfter(size_t slot, int32_t expert);

private:
  double &changed(size_t rank);

  const Packer &packer;
  /// The ranks that hold each expert.
  std::vector<std::vector<size_t>> ranksOf;
  /// For each rank, its changed load (`after`), and the number of the question
  /// for which this load was computed (`askedBy`).
  std::vector<double> after;
  std::vector<size_t> askedBy;
  size_t question = 0;
};

Packer::Replacer::Replacer(const Packer &packer)
    : packer(packer), ranksOf(packer.counts.size()), after(packer.loads.size()),
      askedBy(packer.loads.size()) {
  for (size_t slot = 0; slot < packer.held.size(); ++slot)
    ranksOf[packer.held[slot]].push_back(packer.rankOf(slot));
}

double &Packer::Replacer::changed(size_t rank) {
  if (askedBy[rank] != question)
    after[rank] = packer.loads[rank];
  askedBy[rank] = question;
  return after[rank];
}

double Packer::Replacer::worstAfter(size_t slot, int32_t expert) {
  int32_t old = packer.held[slot];
  double oldShare = packer.share(old);
  double rise = packer.cell.loads[old] / (packer.counts[old] - 1) - oldShare;
  double newShare = packer.cell.loads[expert] / (packer.counts[expert] + 1);
  double fall = packer.share(expert) - newShare;
  size_t own = packer.rankOf(slot);
  ++question;
  for (size_t rank : ranksOf[old])
    changed(rank) += rank == own ? newShare - oldShare : rise;
  for (size_t rank : ranksOf[expert])
    changed(rank) -= fall;
  double worst = 0;
  for (int32_t each : {old, expert})
    for (size_t rank : ranksOf[each])
      worst = std::max(worst, after[rank]);
  // Of the ranks whose load is unchanged, the first in falling order is the
  // most loaded.
  for (size_t rank : packer.falling)
    if (askedBy[rank] != question)
      return std::max(worst, packer.loads[rank]);
  return worst;
}

void Packer::replace(size_t slot, int32_t expert) {
  setCount(held[slot], counts[held[slot]] - 1);
  setCount(expert, counts[expert] + 1);
  held[slot] = expert;
  for (size_t rank = 0; rank < loads.size(); ++rank)
    sumUp(rank);
  sortAll();
}

/// Finds replicas that could leave the most loaded rank, and experts of this
/// rank that could get another replica.
std::vector<Packer::Replacement> Packer::replacements(Steps &steps) const {
  std::vector<Replacement> found;
  Replacer replacer(*this);
  size_t fullest = mostLoadedRank();
  auto cost = static_cast<int64_t>(held.size());
  auto add = [&](size_t slot, int32_t expert) {
    if (!holds(rankOf(slot), expert) && steps.take(cost))
      found.push_back({replacer.worstAfter(slot, expert), slot, expert});
  };
  for (size_t slot = 0; slot < held.size() && steps.left > 0; ++slot) {
    if (counts[held[slot]] < 2)
      continue;
    if (rankOf(slot) == fullest)
      for (size_t expert = 0; expert < counts.size(); ++expert)
        add(slot, static_cast<int32_t>(expert));
    else
      for (size_t other = begin(fullest); other < end(fullest); ++other)
        add(slot, held[other]);
  }
  size_t followed = std::min(found.size(), maxFollowed);
  std::partial_sort(
      found.begin(), found.begin() + static_cast<ptrdiff_t>(followed),
      found.end(), [](const Replacement &a, const Replacement &b) {
        return std::tie(a.worst, a.slot, a.expert) <
               std::tie(b.worst, b.slot, b.expert);
      });
  found.resize(followed);
  return found;
}

bool Packer::replaceOne(Steps &steps) {
  double before = largestLoad();
  for (const Replacement &replacement : replacements(steps)) {
    Packer saved = *this;
    replace(replacement.slot, replacement.expert);
    descend(steps);
    if (largestLoad() < before - epsilon)
      return true;
    takeFrom(saved);
  }
  return false;
}

void Packer::replaceReplicas(Steps &steps) {
  while (!isCloseToBound() && steps.left > 0 && replaceOne(steps))
    ;
}
