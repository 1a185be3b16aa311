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

/// A choice of what training recomputes, with the memory and time of an
/// iteration.
struct PricedRecomputation {
  program::Recomputation what;
  /// Bytes that the device with the least free memory is short of; negative if
  /// memory is left.
  int64_t missingBytes = 0;
  double timeUs = 0;

  bool fits() const { return missingBytes <= 0; }
};

/// A function that prices one choice of recomputation; it returns nothing after
/// it has reported an error.
using PriceRecomputation = std::function<std::optional<PricedRecomputation>(
    const program::Recomputation &)>;

struct RecomputationChoice {
  PricedRecomputation chosen;
  /// The choices that did not fit, in the order in which they were tried.
  std::vector<PricedRecomputation> tried;
};

/// Chooses the recomputation that fits and takes the least time. Candidates:
/// none; lists of `parts` (groups of ops of a layer) that grow by the part that
/// saves the most bytes for its time, up to the first list that fits;
/// everything except matmuls, in every layer or in every second one; whole
/// layers, on the fewest layers per stage that fit; all layers. `none` is the
/// price without recomputation and is chosen if it fits. If nothing fits, all
/// layers are chosen.
std::optional<RecomputationChoice>
chooseRecomputation(const PricedRecomputation &none,
                    const std::vector<program::LayerPart> &parts,
                    int64_t layersOfStage, const PriceRecomputation &price);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_RECOMPUTATIONLADDER_H
