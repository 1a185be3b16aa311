//===- Numbers.h - Functions that give the same bits everywhere -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of a double, or of several at once: a type V with + - * / and with
// the functions below of one double. None of them calls a library, so that
// scalar code and lanes of any width agree to the last bit. Everything has
// internal linkage, because files that include this are compiled for different
// instruction sets.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_NUMBERS_H
#define AUTOPAR_LIB_COST_NUMBERS_H

#include <cstdint>
#include <cstring>

namespace autopar::cost {
namespace {

//===----------------------------------------------------------------------===//
// Functions of one double, which vectors of doubles have too
//===----------------------------------------------------------------------===//

inline double least(double a, double b) { return b < a ? b : a; }
inline double most(double a, double b) { return a < b ? b : a; }
inline double root(double a) { return __builtin_sqrt(a); }
inline bool isAbove(double a, double b) { return a > b; }
inline double choose(bool first, double a, double b) { return first ? a : b; }
/// `exponentOf` returns e and `mantissaOf` m of a positive normal number a = m
/// * 2^e with 1 <= m < 2.
inline double exponentOf(double a) {
  uint64_t bits;
  std::memcpy(&bits, &a, sizeof(bits));
  return static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023);
}
inline double mantissaOf(double a) {
  uint64_t bits;
  std::memcpy(&bits, &a, sizeof(bits));
  bits = (bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000;
  std::memcpy(&a, &bits, sizeof(bits));
  return a;
}
/// Returns 2^n for an integer n from -1022 to 1023.
inline double powerOfTwo(double n) {
  auto bits = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
  double result;
  std::memcpy(&result, &bits, sizeof(bits));
  return result;
}

//===----------------------------------------------------------------------===//
// Exact functions of integers up to 2^53
//===----------------------------------------------------------------------===//

/// Returns the integer nearest to `a` >= 0; a tie goes to the even integer.
template <typename V>
inline V nearest(V a) {
  V magic = V(4503599627370496.0); // 2^52: above it every double is whole
  return choose(isAbove(magic, a), (a + magic) - magic, a);
}
template <typename V>
inline V wholeBelow(V a) {
  V whole = nearest(a);
  return choose(isAbove(whole, a), whole - V(1), whole);
}
template <typename V>
inline V wholeAbove(V a) {
  V whole = nearest(a);
  return choose(isAbove(a, whole), whole + V(1), whole);
}
/// Rounds an expected count to the nearest integer, and a tie upwards. A value
/// within 4e-15 of a tie counts as a tie, because its last digits are rounding
/// errors.
template <typename V>
inline V nearestExpected(V a) {
  return wholeBelow(a * V(1 + 4e-15) + V(0.5));
}
/// Returns the integer part of a / b. The result is exact: a quotient of
/// integers below 2^53 rounds to an integer only if it is an integer.
template <typename V>
inline V floorQuotient(V a, V b) {
  return wholeBelow(a / b);
}
template <typename V>
inline V ceilQuotient(V a, V b) {
  return wholeAbove(a / b);
}

/// Returns the integer part of a * b / c. It divides before it multiplies, so
/// that products above 2^53 stay exact.
template <typename V>
inline V scaleDown(V a, V b, V c) {
  V times = floorQuotient(a, c);
  return times * b + floorQuotient((a - times * c) * b, c);
}

//===----------------------------------------------------------------------===//
// Logarithms and powers, within 2 units in the last place
//===----------------------------------------------------------------------===//

template <typename V>
inline V polynomial(V, double last) {
  return V(last);
}
/// Returns first + x * (next + x * ...).
template <typename V, typename... Rest>
inline V polynomial(V x, double first, Rest... rest) {
  return V(first) + x * polynomial(x, rest...);
}

/// Returns ln(m) for m from sqrt(1/2) to sqrt(2), by the series of 2
/// atanh((m-1)/(m+1)).
template <typename V>
inline V logOfMantissa(V m) {
  V t = (m - V(1)) / (m + V(1)), u = t * t;
  V tail = polynomial(u, 1 / 3.0, 1 / 5.0, 1 / 7.0, 1 / 9.0, 1 / 11.0, 1 / 13.0,
                      1 / 15.0, 1 / 17.0, 1 / 19.0, 1 / 21.0);
  return V(2) * t + V(2) * t * u * tail;
}

constexpr double ln2 = 0.6931471805599453094;

/// Returns log2 of a positive normal number.
template <typename V>
inline V log2Of(V a) {
  V e = exponentOf(a), m = mantissaOf(a);
  auto isLarge = isAbove(m, V(1.4142135623730951));
  e = choose(isLarge, e + V(1), e);
  m = choose(isLarge, m * V(0.5), m);
  return e + logOfMantissa(m) * V(1 / ln2);
}

/// Returns e^y - 1 for y from -0.35 to 0.35, by its series.
template <typename V>
inline V smallExpm1(V y) {
  V tail = polynomial(y, 1 / 2.0, 1 / 6.0, 1 / 24.0, 1 / 120.0, 1 / 720.0,
                      1 / 5040.0, 1 / 40320.0, 1 / 362880.0, 1 / 3628800.0,
                      1 / 39916800.0, 1 / 479001600.0, 1 / 6227020800.0);
  return y + y * y * tail;
}

/// Returns 2^a for a from -1000 to 1000.
template <typename V>
inline V exp2Of(V a) {
  a = least(most(a, V(-1000)), V(1000));
  V n = nearest(a + V(1024)) - V(1024);
  return powerOfTwo(n) * (V(1) + smallExpm1((a - n) * V(ln2)));
}

/// Returns e^a - 1 for a <= 0.
template <typename V>
inline V expm1Of(V a) {
  V scaled = most(a * V(1 / ln2), V(-1000));
  V n = nearest(scaled + V(1024)) - V(1024);
  V power = powerOfTwo(n);
  V rest = choose(isAbove(V(0), n), (scaled - n) * V(ln2), a);
  return power * smallExpm1(rest) + (power - V(1));
}

/// Returns ln(1 + a) for -1 < a <= 0.
template <typename V>
inline V log1pOf(V a) {
  V sum = V(1) + a;
  V lost = (a - (sum - V(1))) / sum;
  return log2Of(sum) * V(ln2) + lost;
}

/// Returns the cube root of a number from 1 to 2, by two steps of Halley's
/// method.
template <typename V>
inline V cbrtOf(V a) {
  V y = polynomial(a, 0.6042, 0.4731, -0.0774);
  for (int i = 0; i < 2; ++i) {
    V cube = y * y * y;
    y = y * ((cube + a + a) / (cube + cube + a));
  }
  return y;
}

//===----------------------------------------------------------------------===//
// Functions of physical models
//===----------------------------------------------------------------------===//

/// (a^q + b^q)^(1/q): max(a, b), rounded off where both are close, because
/// kernels that are bound by both are slower than either bound. q is 1, 3/2, 2,
/// 3 or 4, or 0 for max(a, b) itself. Williams, Waterman, Patterson, "Roofline"
/// (2009) has the maximum; the exponent is fitted by
/// scripts/calibration/fit.py.
template <typename V>
inline V smoothMaximum(V a, V b, double q) {
  V high = most(a, b), low = least(a, b);
  V r = low / most(high, V(1e-300));
  if (q == 1)
    return high + low;
  if (q == 2)
    return high * root(V(1) + r * r);
  if (q == 3)
    return high * cbrtOf(V(1) + r * r * r);
  if (q == 4)
    return high * root(root(V(1) + (r * r) * (r * r)));
  if (q == 1.5) {
    V third = cbrtOf(V(1) + r * root(r));
    return high * third * third;
  }
  return high;
}

constexpr double picosecondsPerUs = 1e6;

/// Returns a^s; exactly 1 if s is 0.
template <typename V>
inline V powerOf(double a, V s) {
  return exp2Of(s * log2Of(V(a)));
}

/// Returns the probability that a token chooses an expert of quarter `quarter`,
/// relative to the mean over all experts, if the expert at rank x has a share
/// proportional to x^-s, s < 1. It is the integral over the quarter, 4^s
/// ((i+1)^(1-s) - i^(1-s)). The mean over the four quarters is 1.
template <typename V>
inline V quarterShare(V s, uint32_t quarter) {
  auto upTo = [&](double end) {
    return end == 4 || end == 0
               ? V(end)
               : V(end) * powerOf(4, s) * powerOf(end, V(0) - s);
  };
  return upTo(quarter + 1.0) - upTo(quarter);
}

/// Returns the expected number of distinct experts, out of `experts`, that
/// `tokens` tokens reach if each token chooses `topK` experts uniformly:
/// E*(1-(1-k/E)^tokens).
template <typename V>
inline V distinctExperts(V experts, V topK, V tokens) {
  V share = least(topK / experts, V(1 - 1e-16));
  V reached = V(0) - experts * expm1Of(tokens * log1pOf(V(0) - share));
  V some = choose(isAbove(experts, topK), reached, experts);
  return choose(isAbove(tokens, V(0)), some, V(0));
}

/// Expected rows of the busiest of n `ranks` ranks with a mean of `mean` rows
/// and a constant total. `dispersion` is the variance of the difference of two
/// ranks over that of Poisson distributions. The largest of n normal deviates
/// has the mean c = L sqrt(0.411 / (1 + 0.285 L)), L = log2 n, within 1 %.
/// Small counts are skewed, but their powers of 2/3 hardly are (McCullagh and
/// Nelder, "Generalized Linear Models" (1989), section 2.4.2), which gives mean
/// (1 + 2/3 c sqrt(dispersion / mean))^(3/2), less 1/6 because counts are
/// integers. This formula is our own; it is within 3 % of simulated routing
/// from 8 tokens on (test/unit/Cost/BusiestRowsTest.cpp).
template <typename V>
inline V busiestRows(V mean, V ranks, V dispersion) {
  V octaves = log2Of(ranks);
  V deviate = octaves * root(V(0.411) / (V(1) + V(0.285) * octaves));
  V spread = root(most(dispersion, V(0)) / most(mean, V(1e-9)));
  V power = V(1) + V(2 / 3.0) * deviate * spread;
  V rows =
      mean * power * root(power) - least(octaves * V(1 / 18.0), V(1 / 6.0));
  V atLeast = most(mean, least(mean * ranks, V(1)));
  return choose(isAbove(ranks, V(1)), most(rows, atLeast), mean);
}

} // namespace
} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_NUMBERS_H
