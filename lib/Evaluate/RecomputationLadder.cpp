//===- RecomputationLadder.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/RecomputationLadder.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::program;

using Kind = Recomputation::Kind;

namespace {

class Ladder {
public:
  Ladder(const PricedRecomputation &none, const std::vector<LayerPart> &parts,
         const PriceRecomputation &price)
      : none(none), parts(parts), price(price) {
    tried.push_back(none);
  }

  std::optional<RecomputationChoice> climb(int64_t layersOfStage);

private:
  void take(const PricedRecomputation &one);
  bool tryOne(const Recomputation &what);
  bool tryLists();
  bool tryLayers(const PricedRecomputation &all, int64_t most);

  const PricedRecomputation &none;
  const std::vector<LayerPart> &parts;
  const PriceRecomputation &price;
  std::vector<PricedRecomputation> fitting, tried;
};

} // namespace

void Ladder::take(const PricedRecomputation &one) {
  (one.fits() ? fitting : tried).push_back(one);
}

/// Tries one recomputation. Returns false if it could not be priced; the error
/// has then been reported.
bool Ladder::tryOne(const Recomputation &what) {
  std::optional<PricedRecomputation> priced = price(what);
  if (priced)
    take(*priced);
  return priced.has_value();
}

/// Tries growing lists of parts to recompute. Parts that save no bytes are
/// skipped.
bool Ladder::tryLists() {
  struct Candidate {
    PricedRecomputation alone;
    double savedBytes, timeUs;
  };
  std::vector<Candidate> candidates;
  for (LayerPart part : parts) {
    std::optional<PricedRecomputation> one = price({Kind::parts, {part}});
    if (!one)
      return false;
    if (one->missingBytes < none.missingBytes)
      candidates.push_back({*one, double(none.missingBytes - one->missingBytes),
                            std::max(one->timeUs - none.timeUs, 0.0)});
  }
  // Candidates are sorted by the bytes that they save per time, the most first.
  // Equal candidates keep the order of parts.
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate &a, const Candidate &b) {
              double first = a.savedBytes * b.timeUs,
                     second = b.savedBytes * a.timeUs;
              return first != second ? first > second
                                     : a.alone.what.parts < b.alone.what.parts;
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

/// Finds the smallest number of layers, from none to `most`, whose
/// recomputation makes the plan fit. It guesses by interpolation of the missing
/// bytes, then bisects.
bool Ladder::tryLayers(const PricedRecomputation &all, int64_t most) {
  constexpr int64_t mostGuesses = 3;
  int64_t few = 0;
  auto missing = static_cast<double>(none.missingBytes),
       left = -static_cast<double>(all.missingBytes);
  std::optional<PricedRecomputation> best, last;
  for (int64_t i = 0; most - few > 1; ++i) {
    double share = i < mostGuesses ? missing / (missing + left) : 0.5;
    auto more = static_cast<int64_t>(std::ceil(share * double(most - few)));
    int64_t next = few + std::clamp<int64_t>(more, 1, most - few - 1);
    std::optional<PricedRecomputation> one = price({Kind::full, {}, 1, next});
    if (!one)
      return false;
    (one->fits() ? most : few) = next;
    (one->fits() ? left : missing) =
        std::abs(static_cast<double>(one->missingBytes));
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
  if (!all || (all->fits() && !tryLayers(*all, layersOfStage)))
    return std::nullopt;
  RecomputationChoice choice{*all, std::move(tried)};
  for (const PricedRecomputation &one : fitting)
    if (!choice.chosen.fits() || one.timeUs < choice.chosen.timeUs)
      choice.chosen = one;
  return choice;
}

std::optional<RecomputationChoice> autopar::evaluation::chooseRecomputation(
    const PricedRecomputation &none, const std::vector<LayerPart> &parts,
    int64_t layersOfStage, const PriceRecomputation &price) {
  if (none.fits())
    return RecomputationChoice{none, {}};
  return Ladder(none, parts, price).climb(layersOfStage);
}
