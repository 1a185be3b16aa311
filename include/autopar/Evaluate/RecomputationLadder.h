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

/// A recomputation, with the memory and time of its iteration.
struct PricedRecomputation {
  program::Recomputation what;
  /// Bytes that the fullest device lacks; negative if some are left.
  int64_t missingBytes = 0;
  double timeUs = 0;

  bool fits() const { return missingBytes <= 0; }
};

/// Prices one recomputation; returns nothing if that failed, after an error was
/// reported.
using PriceRecomputation = std::function<std::optional<PricedRecomputation>(
    const program::Recomputation &)>;

struct RecomputationChoice {
  PricedRecomputation chosen;
  /// Recomputations that did not fit, in the order in which they were tried.
  std::vector<PricedRecomputation> tried;
};

/// Chooses the recomputation that fits and takes the least time. Candidates:
/// none; lists of `parts` (those of the layers) that grow by the part that
/// saves most bytes for its time, up to the first list that fits; all except
/// matmuls, in every layer or in every second one; the fewest layers per stage
/// that fit; all layers. `none` is the price without recomputation and is
/// chosen if it fits. If nothing fits, all layers are chosen.
std::optional<RecomputationChoice>
chooseRecomputation(const PricedRecomputation &none,
                    const std::vector<program::LayerPart> &parts,
                    int64_t layersOfStage, const PriceRecomputation &price);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_RECOMPUTATIONLADDER_H
