//===- LogNormal.h - Shares and means of log-normal lengths -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_LOGNORMAL_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_LOGNORMAL_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace autopar::serving {

/// P(X < `deviations`) of a standard normal X.
inline double normalBelow(double deviations) {
  return std::erfc(-deviations / std::sqrt(2.0)) / 2;
}

/// Mean of the smaller of two independent log-normal values over the mean of
/// each: 1 - the Gini coefficient, for a squared coefficient of variation of
/// `squaredVariation`.
inline double smallerOfTwo(double squaredVariation) {
  return std::erfc(std::sqrt(std::log1p(squaredVariation)) / 2);
}

/// `base` to a whole `exponent`, by repeated squaring.
inline double power(double base, int64_t exponent) {
  double product = 1;
  for (int64_t left = exponent; left > 0; left >>= 1) {
    if (left & 1)
      product *= base;
    base *= base;
  }
  return product;
}

/// E[min(X, limit)] for a length X >= `shortest`: the integral of P(X > x) up
/// to `limit`. The integral takes `points` lengths, each e^`logStep` times the
/// one before; `aboveAt(i)` is P(X > length i). Trapezoids with the first
/// Euler-Maclaurin correction.
template <typename Above>
double meanLength(double shortest, double logStep, int points, double limit,
                  Above aboveAt) {
  double factor = std::exp(logStep), length = shortest, above = aboveAt(0);
  double sum = above * std::min(length, limit), moved = 0, end = 0;
  for (int i = 1; i < points && length < limit; ++i) {
    double next = length * factor, nextAbove = aboveAt(i);
    double falls = above - nextAbove;
    if (next > limit) {
      double part = limit - length;
      sum += part * (above - falls * part / (next - length) / 2);
      break;
    }
    sum += (next - length) * (above + nextAbove) / 2;
    moved += falls * (length + next) / 2;
    end = falls * length * next / (next - length);
    above = nextAbove;
    length = next;
  }
  return sum - logStep * logStep / 12 * (2 * moved - end);
}

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_LOGNORMAL_H
