//===- RecomputationLadder.h - The least that fits --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_RECOMPUTATIONLADDER_H
#define AUTOPAR_EVALUATE_RECOMPUTATIONLADDER_H

#include "autopar/Program/Recomputation.h"

#include <functional>
#include <optional>

namespace autopar::evaluation {

/// What is made again, and what an iteration then needs.
struct PricedRecomputation {
  program::Recomputation what;
  /// That the fullest device lacks; below 0 where some are left.
  int64_t missingBytes = 0;
  double timeUs = 0;

  bool fits() const { return missingBytes <= 0; }
};

/// Prices one; nothing where that failed, which was said.
using PriceRecomputation = std::function<std::optional<PricedRecomputation>(
    const program::Recomputation &)>;

struct RecomputationChoice {
  PricedRecomputation chosen;
  /// What did not fit, in the order in which it was tried.
  std::vector<PricedRecomputation> tried;
};

/// What fits and takes the least time, of: nothing; lists of `parts`, those
/// that layers have, that grow by the part that saves most bytes for its time,
/// up to the first that fits; all but products, all or every second one; the
/// fewest layers of each stage that fit; all layers. `none` is nothing's price:
/// where it fits, it is taken. All layers where nothing fits.
std::optional<RecomputationChoice>
chooseRecomputation(const PricedRecomputation &none,
                    const std::vector<program::LayerPart> &parts,
                    int64_t layersOfStage, const PriceRecomputation &price);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_RECOMPUTATIONLADDER_H
