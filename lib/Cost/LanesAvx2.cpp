//===- LanesAvx2.cpp - Compiled for AVX2 ----------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <immintrin.h>

namespace {
struct Pack {
  static constexpr size_t width = 4;
  using Mask = __m256d;
  Pack() = default;
  Pack(__m256d value) : value(value) {}
  explicit Pack(double one) : value(_mm256_set1_pd(one)) {}
  friend Pack operator+(Pack a, Pack b) { return a.value + b.value; }
  friend Pack operator-(Pack a, Pack b) { return a.value - b.value; }
  friend Pack operator*(Pack a, Pack b) { return a.value * b.value; }
  friend Pack operator/(Pack a, Pack b) { return a.value / b.value; }
  __m256d value;
};

// `least` and `most` return the second of two equal operands, like the
// functions of one double in Numbers.h.
inline Pack least(Pack a, Pack b) { return _mm256_min_pd(b.value, a.value); }
inline Pack most(Pack a, Pack b) { return _mm256_max_pd(b.value, a.value); }
inline Pack root(Pack a) { return _mm256_sqrt_pd(a.value); }
inline __m256d isAbove(Pack a, Pack b) {
  return _mm256_cmp_pd(a.value, b.value, _CMP_GT_OQ);
}
inline Pack choose(__m256d mask, Pack a, Pack b) {
  return _mm256_blendv_pd(b.value, a.value, mask);
}

/// The number 2^52: in doubles from here on, the low bits are an integer.
constexpr double magic = 4503599627370496.0;

inline Pack exponentOf(Pack a) {
  __m256i bits = _mm256_srli_epi64(_mm256_castpd_si256(a.value), 52);
  __m256i biased =
      _mm256_or_si256(bits, _mm256_castpd_si256(_mm256_set1_pd(magic)));
  return Pack(_mm256_castsi256_pd(biased)) - Pack(magic + 1023);
}
inline Pack mantissaOf(Pack a) {
  __m256i bits = _mm256_and_si256(_mm256_castpd_si256(a.value),
                                  _mm256_set1_epi64x(0xFFFFFFFFFFFFF));
  return _mm256_castsi256_pd(
      _mm256_or_si256(bits, _mm256_castpd_si256(_mm256_set1_pd(1))));
}
inline Pack powerOfTwo(Pack n) {
  __m256i bits = _mm256_castpd_si256((n + Pack(magic + 1023)).value);
  return _mm256_castsi256_pd(_mm256_slli_epi64(bits, 52));
}

inline Pack knotAt(const double *knots, Pack index) {
  return _mm256_i32gather_pd(knots, _mm256_cvttpd_epi32(index.value), 8);
}

} // namespace

const autopar::cost::LaneRunner autopar::cost::avx2Runner = laneRunnerOf<Pack>;
