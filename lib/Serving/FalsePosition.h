//===- FalsePosition.h - Where a function falls to zero ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_FALSEPOSITION_H
#define AUTOPAR_LIB_SERVING_FALSEPOSITION_H

#include "autopar/Serving/Server.h"

#include <algorithm>
#include <cmath>

namespace autopar::serving {

/// Where a function falls to 0 between `low` and `high`, the end that it points
/// to where it does not: `excessAt(at, excess)` finds what follows from `at`,
/// less that, or refuses. From a first guess, where it falls by about `fall`
/// for each of `at` (as it did last, then), by secants that do not go far
/// beyond what follows, so that the first of several zeros above it is found;
/// then by false position (Illinois). It ends where the excess is less than a
/// share `near`, with a step that is not looked at.
template <typename ExcessAt>
ServingRefusal findZero(double guess, double &fall, double low, double high,
                        ExcessAt excessAt, double &at, double near = 3e-3) {
  constexpr int rounds = 30;
  constexpr double leastFall = 0.15;
  bool hasLow = false, hasHigh = false, wasLow = false;
  double atLow = 0, atHigh = 0, before = 0, excessBefore = 0;
  at = std::clamp(guess, low, high);
  for (int i = 0; i < rounds; ++i) {
    double excess = 0;
    if (auto refusal = excessAt(at, excess))
      return refusal;
    if (std::isnan(excess))
      return {};
    if (i > 0)
      fall = (excessBefore - excess) / (at - before);
    before = at;
    excessBefore = excess;
    bool isLow = excess > 0, isAgain = i > 0 && isLow == wasLow;
    wasLow = isLow;
    // The end that stays counts half.
    if (isLow) {
      low = at;
      atLow = excess;
      hasLow = true;
      atHigh /= isAgain ? 2 : 1;
    } else {
      high = at;
      atHigh = excess;
      hasHigh = true;
      atLow /= isAgain ? 2 : 1;
    }
    if (hasLow && hasHigh)
      at = low + (high - low) * atLow / (atLow - atHigh);
    else
      at = std::clamp(at + excess / std::max(leastFall, fall), low, high);
    if (std::abs(excess) < near * (1 + before) || at == before)
      return {};
  }
  return {};
}

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_FALSEPOSITION_H
