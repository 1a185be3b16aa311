//===- LengthIntegral.h - Means of lengths ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_LENGTHINTEGRAL_H
#define AUTOPAR_LIB_SERVING_LENGTHINTEGRAL_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace autopar::serving {

/// Of a normal law, the share below.
inline double normalBelow(double deviations) {
  return std::erfc(-deviations / std::sqrt(2.0)) / 2;
}

/// Of two of a log-normal law, the mean of the smaller over that of each: 1
/// less Gini's coefficient, of so large a variance over the squared mean.
inline double smallerOfTwo(double squaredVariation) {
  return std::erfc(std::sqrt(std::log1p(squaredVariation)) / 2);
}

inline double power(double base, int64_t exponent) {
  double product = 1;
  for (int64_t left = exponent; left > 0; left >>= 1) {
    if (left & 1)
      product *= base;
    base *= base;
  }
  return product;
}

/// The mean of a length, `most` at most: the integral of how likely it is
/// longer. From `length` on, below which it never is, `points` points are as
/// far apart as `step` says of their logarithms; `above` says it of each. By
/// trapezoids, less what they are above the curve (Euler and Maclaurin).
template <typename Above>
double meanLength(double length, double step, int points, double most,
                  Above aboveOf) {
  double factor = std::exp(step), before = aboveOf(0);
  double sum = before * std::min(length, most), moved = 0, end = 0;
  for (int i = 1; i < points && length < most; ++i) {
    double above = aboveOf(i), next = length * factor, falls = before - above;
    if (next > most) {
      double part = most - length;
      sum += part * (before - falls * part / (next - length) / 2);
      break;
    }
    sum += (next - length) * (before + above) / 2;
    moved += falls * (length + next) / 2;
    end = falls * length * next / (next - length);
    before = above;
    length = next;
  }
  return sum - step * step / 12 * (2 * moved - end);
}

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_LENGTHINTEGRAL_H
