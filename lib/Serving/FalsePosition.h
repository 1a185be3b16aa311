//===- FalsePosition.h - Where a function falls to zero ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_FALSEPOSITION_H
#define AUTOPAR_LIB_SERVING_FALSEPOSITION_H

#include "autopar/Serving/Server.h"

#include <cmath>

namespace autopar {

/// Where a function is 0 that is above 0 at `low`, by false position
/// (Illinois); `high` where it is not below 0 there. `excessAt(at, excess)`
/// finds it, in units of `at`, or refuses.
template <typename ExcessAt>
ServingRefusal findZero(double low, double high, ExcessAt excessAt,
                        double &at) {
  constexpr int rounds = 20;
  constexpr double near = 1e-3;
  double atLow = 0, atHigh = 0, excess = 0;
  at = high;
  if (auto refusal = excessAt(low, atLow))
    return refusal;
  if (auto refusal = excessAt(high, atHigh))
    return refusal;
  for (int i = 0; i < rounds && atLow > 0 && atHigh < 0; ++i) {
    at = low + (high - low) * atLow / (atLow - atHigh);
    if (auto refusal = excessAt(at, excess))
      return refusal;
    if (std::abs(excess) < near * (1 + at))
      break;
    // The end that stays counts half.
    if (excess > 0) {
      low = at;
      atLow = excess;
      atHigh /= 2;
    } else {
      high = at;
      atHigh = excess;
      atLow /= 2;
    }
  }
  return {};
}

/// The same of a function that is what follows from `at`, less that: by secants
/// from a first guess, which a few steps mostly do; by false position where
/// they leave the range or take too many.
template <typename ExcessAt>
ServingRefusal findZeroFrom(double guess, double low, double high,
                            ExcessAt excessAt, double &at) {
  constexpr int rounds = 6;
  constexpr double near = 1e-3;
  double before = 0, excessBefore = 0, excess = 0;
  at = guess;
  for (int i = 0; i < rounds && at >= low && at <= high; ++i) {
    if (auto refusal = excessAt(at, excess))
      return refusal;
    if (std::abs(excess) < near * (1 + at))
      return {};
    double fall = i == 0 ? 1 : (excessBefore - excess) / (at - before);
    if (!(fall > 0))
      break;
    before = at;
    excessBefore = excess;
    at += excess / fall;
  }
  return findZero(low, high, excessAt, at);
}

} // namespace autopar

#endif // AUTOPAR_LIB_SERVING_FALSEPOSITION_H
