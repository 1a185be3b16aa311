//===- RootFinding.h - Where a function falls to zero -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_ROOTFINDING_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_ROOTFINDING_H

#include "autopar/Serving/QueueModel.h"

#include <algorithm>
#include <cmath>

namespace autopar::serving {

/// Finds `at` in [low, high] where a falling function is 0, or the nearer end
/// where it has no zero there. `excessAt(at, excess)` returns the function's
/// value, or a refusal that ends the search.
///
/// From `guess`, secants run until the function is below 0, in steps that are
/// not much longer than its value: of several zeros, the first above the guess
/// is found. Regula falsi with the Illinois correction follows (Dowell and
/// Jarratt 1971, DOI 10.1007/BF01934364). The search ends where the value is
/// below a share `near` of 1 + `at`, after a last step.
template <typename ExcessAt>
ServingRefusal findZero(double guess, double low, double high,
                        ExcessAt excessAt, double &at, double near = 3e-3) {
  // The Illinois steps halve the interval at least every third time; 30 steps
  // reach 2^-10.
  constexpr int rounds = 30;
  // A secant's step is at most 1 / 0.15 of the excess.
  constexpr double leastSlope = 0.15;
  bool hasLow = false, hasHigh = false, wasLow = false;
  double atLow = 0, atHigh = 0, before = 0, excessBefore = 0, slope = 1;
  at = std::clamp(guess, low, high);
  for (int i = 0; i < rounds; ++i) {
    double excess = 0;
    if (auto refusal = excessAt(at, excess))
      return refusal;
    if (std::isnan(excess))
      return {};
    if (i > 0)
      slope = (excessBefore - excess) / (at - before);
    before = at;
    excessBefore = excess;
    bool isLow = excess > 0, isAgain = i > 0 && isLow == wasLow;
    wasLow = isLow;
    // The Illinois correction: an end of the interval that stays twice counts
    // half.
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
      at = std::clamp(at + excess / std::max(leastSlope, slope), low, high);
    if (std::abs(excess) < near * (1 + before) || at == before)
      return {};
  }
  return {};
}

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_ROOTFINDING_H
