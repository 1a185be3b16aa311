//===- LanesAvx512.cpp - Compiled for AVX-512 -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <immintrin.h>

namespace {
struct Pack {
  static constexpr size_t width = 8;
  using Mask = __mmask8;
  Pack() = default;
  Pack(__m512d value) : value(value) {}
  explicit Pack(double one) : value(_mm512_set1_pd(one)) {}
  friend Pack operator+(Pack a, Pack b) { return a.value + b.value; }
  friend Pack operator-(Pack a, Pack b) { return a.value - b.value; }
  friend Pack operator*(Pack a, Pack b) { return a.value * b.value; }
  friend Pack operator/(Pack a, Pack b) { return a.value / b.value; }
  __m512d value;
};

// `least` and `most` return the second of two equal operands, like the
// functions of one double in Numbers.h.
inline Pack least(Pack a, Pack b) { return _mm512_min_pd(b.value, a.value); }
inline Pack most(Pack a, Pack b) { return _mm512_max_pd(b.value, a.value); }
inline Pack root(Pack a) { return _mm512_sqrt_pd(a.value); }
inline __mmask8 isAbove(Pack a, Pack b) {
  return _mm512_cmp_pd_mask(a.value, b.value, _CMP_GT_OQ);
}
inline Pack choose(__mmask8 mask, Pack a, Pack b) {
  return _mm512_mask_blend_pd(mask, b.value, a.value);
}

/// The number 2^52: in doubles from here on, the low bits are an integer.
constexpr double magic = 4503599627370496.0;

inline Pack exponentOf(Pack a) {
  __m512i bits = _mm512_srli_epi64(_mm512_castpd_si512(a.value), 52);
  __m512i biased =
      _mm512_or_si512(bits, _mm512_castpd_si512(_mm512_set1_pd(magic)));
  return Pack(_mm512_castsi512_pd(biased)) - Pack(magic + 1023);
}
inline Pack mantissaOf(Pack a) {
  __m512i bits = _mm512_and_si512(_mm512_castpd_si512(a.value),
                                  _mm512_set1_epi64(0xFFFFFFFFFFFFF));
  return _mm512_castsi512_pd(
      _mm512_or_si512(bits, _mm512_castpd_si512(_mm512_set1_pd(1))));
}
inline Pack powerOfTwo(Pack n) {
  __m512i bits = _mm512_castpd_si512((n + Pack(magic + 1023)).value);
  return _mm512_castsi512_pd(_mm512_slli_epi64(bits, 52));
}

inline Pack knotAt(const double *knots, Pack index) {
  return _mm512_i32gather_pd(_mm512_cvttpd_epi32(index.value), knots, 8);
}

} // namespace

const autopar::cost::LaneRunner autopar::cost::avx512Runner =
    laneRunnerOf<Pack>;
