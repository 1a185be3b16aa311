//===- LanesSse2.cpp - Compiled for SSE2 ----------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <emmintrin.h>

namespace {
struct Pack {
  static constexpr size_t width = 2;
  using Mask = __m128d;
  Pack() = default;
  Pack(__m128d value) : value(value) {}
  explicit Pack(double one) : value(_mm_set1_pd(one)) {}
  friend Pack operator+(Pack a, Pack b) { return a.value + b.value; }
  friend Pack operator-(Pack a, Pack b) { return a.value - b.value; }
  friend Pack operator*(Pack a, Pack b) { return a.value * b.value; }
  friend Pack operator/(Pack a, Pack b) { return a.value / b.value; }
  __m128d value;
};

// `least` and `most` return the second of two equal operands, like the
// functions of one double in Numbers.h.
inline Pack least(Pack a, Pack b) { return _mm_min_pd(b.value, a.value); }
inline Pack most(Pack a, Pack b) { return _mm_max_pd(b.value, a.value); }
inline Pack root(Pack a) { return _mm_sqrt_pd(a.value); }
inline __m128d isAbove(Pack a, Pack b) {
  return _mm_cmpgt_pd(a.value, b.value);
}
inline Pack choose(__m128d mask, Pack a, Pack b) {
  return _mm_or_pd(_mm_and_pd(mask, a.value), _mm_andnot_pd(mask, b.value));
}

/// The number 2^52: in doubles from here on, the low bits are an integer.
constexpr double magic = 4503599627370496.0;

inline Pack exponentOf(Pack a) {
  __m128i bits = _mm_srli_epi64(_mm_castpd_si128(a.value), 52);
  __m128i biased = _mm_or_si128(bits, _mm_castpd_si128(_mm_set1_pd(magic)));
  return Pack(_mm_castsi128_pd(biased)) - Pack(magic + 1023);
}
inline Pack mantissaOf(Pack a) {
  __m128i bits = _mm_and_si128(_mm_castpd_si128(a.value),
                               _mm_set1_epi64x(0xFFFFFFFFFFFFF));
  return _mm_castsi128_pd(_mm_or_si128(bits, _mm_castpd_si128(_mm_set1_pd(1))));
}
inline Pack powerOfTwo(Pack n) {
  __m128i bits = _mm_castpd_si128((n + Pack(magic + 1023)).value);
  return _mm_castsi128_pd(_mm_slli_epi64(bits, 52));
}

inline Pack knotAt(const double *knots, Pack index) {
  double at[2];
  std::memcpy(at, &index, sizeof(at));
  return _mm_set_pd(knots[static_cast<size_t>(at[1])],
                    knots[static_cast<size_t>(at[0])]);
}

} // namespace

const autopar::cost::LaneRunner autopar::cost::sse2Runner = laneRunnerOf<Pack>;
