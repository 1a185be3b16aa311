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

/// Returns the probability that a standard normal number is below `deviations`.
inline double normalBelow(double deviations) {
  return std::erfc(-deviations / std::sqrt(2.0)) / 2;
}

/// Returns the mean of the smaller of two independent log-normal values,
/// divided by the mean of one of them: 1 minus the Gini coefficient.
/// `squaredVariation` is the squared coefficient of variation.
inline double smallerOfTwo(double squaredVariation) {
  return std::erfc(std::sqrt(std::log1p(squaredVariation)) / 2);
}

/// Returns `base` to the power `exponent`, a whole number, by repeated
/// squaring.
inline double power(double base, int64_t exponent) {
  double product = 1;
  for (int64_t left = exponent; left > 0; left >>= 1) {
    if (left & 1)
      product *= base;
    base *= base;
  }
  return product;
}

/// Returns E[min(X, limit)] for a random length X >= `shortest`: the integral
/// of P(X > x) up to `limit`. The integral takes `points` lengths, each of
/// which is e^`logStep` times the one before; `aboveAt(i)` is P(X > length i).
/// It uses trapezoids with the first Euler-Maclaurin correction.
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
