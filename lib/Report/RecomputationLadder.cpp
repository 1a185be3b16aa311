//===- RecomputationLadder.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Report/RecomputationLadder.h"

#include <algorithm>

using namespace autopar;

using Kind = Recomputation::Kind;

namespace {

class Ladder {
public:
  Ladder(const PricedRecomputation &none, const PriceRecomputation &price)
      : none(none), price(price) {
    tried.push_back(none);
  }

  std::optional<RecomputationChoice> climb(int64_t layersOfStage);

private:
  void take(const PricedRecomputation &one);
  bool tryOne(const Recomputation &what);
  bool tryLists();
  bool tryLayers(int64_t most);

  const PricedRecomputation &none;
  const PriceRecomputation &price;
  std::vector<PricedRecomputation> fitting, tried;
};

} // namespace

void Ladder::take(const PricedRecomputation &one) {
  (one.fits() ? fitting : tried).push_back(one);
}

/// False where it could not be priced, which was said.
bool Ladder::tryOne(const Recomputation &what) {
  std::optional<PricedRecomputation> priced = price(what);
  if (priced)
    take(*priced);
  return priced.has_value();
}

/// Parts that save nothing are left out.
bool Ladder::tryLists() {
  struct Candidate {
    PricedRecomputation alone;
    double savedBytes, timeUs;
  };
  std::vector<Candidate> candidates;
  for (LayerPart part : layerParts) {
    std::optional<PricedRecomputation> one = price({Kind::parts, {part}});
    if (!one)
      return false;
    if (one->missingBytes < none.missingBytes)
      candidates.push_back({*one, double(none.missingBytes - one->missingBytes),
                            std::max(one->timeUs - none.timeUs, 0.0)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate &a, const Candidate &b) {
                     return a.savedBytes * b.timeUs > b.savedBytes * a.timeUs;
                   });
  Recomputation list{Kind::parts};
  for (const Candidate &candidate : candidates) {
    list.parts.push_back(candidate.alone.what.parts.front());
    std::sort(list.parts.begin(), list.parts.end());
    if (list.parts.size() == 1)
      take(candidate.alone);
    else if (!tryOne(list))
      return false;
    if (!fitting.empty())
      break;
  }
  return true;
}

/// Bisects between none and `most`, all of them.
bool Ladder::tryLayers(int64_t most) {
  int64_t few = 0;
  std::optional<PricedRecomputation> best, last;
  while (most - few > 1) {
    int64_t middle = few + (most - few) / 2;
    std::optional<PricedRecomputation> one = price({Kind::full, {}, 1, middle});
    if (!one)
      return false;
    (one->fits() ? most : few) = middle;
    (one->fits() ? best : last) = one;
  }
  if (last)
    tried.push_back(*last);
  if (best)
    fitting.push_back(*best);
  return true;
}

std::optional<RecomputationChoice> Ladder::climb(int64_t layersOfStage) {
  if (!tryLists())
    return std::nullopt;
  for (int64_t every : {1, 2})
    if (!tryOne({Kind::save_products, {}, every}))
      return std::nullopt;
  std::optional<PricedRecomputation> all = price({Kind::full});
  if (!all || (all->fits() && !tryLayers(layersOfStage)))
    return std::nullopt;
  RecomputationChoice choice{*all, std::move(tried)};
  for (const PricedRecomputation &one : fitting)
    if (!choice.chosen.fits() || one.timeUs < choice.chosen.timeUs)
      choice.chosen = one;
  return choice;
}

std::optional<RecomputationChoice>
autopar::chooseRecomputation(const PricedRecomputation &none,
                             int64_t layersOfStage,
                             const PriceRecomputation &price) {
  if (none.fits())
    return RecomputationChoice{none, {}};
  return Ladder(none, price).climb(layersOfStage);
}
