//===- Lanes.h - Sixteen points at once -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file per instruction set includes this after it has defined `Pack`, as many
// doubles as one of its registers has, with + - * / and the functions of one
// double in Numbers.h.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_LANES_H
#define AUTOPAR_LIB_COST_LANES_H

#include "Run.h"

namespace autopar {

inline constexpr size_t lanes = 16;

/// Runs the point's part of a tape: `slots[i * lanes]` is slot i.
using LaneRunner = void (*)(const TapeView &tape, double *slots);
void runSse2(const TapeView &tape, double *slots);
void runAvx2(const TapeView &tape, double *slots);
void runAvx512(const TapeView &tape, double *slots);
/// The widest that this machine has.
LaneRunner chooseLaneRunner();

namespace {

/// Sixteen doubles.
template <typename Pack>
struct Lanes {
  static constexpr size_t packs = lanes / Pack::width;
  Pack pack[packs];

  Lanes() = default;
  explicit Lanes(double value) {
    for (Pack &one : pack)
      one = Pack(value);
  }
  template <typename F>
  static Lanes each(F f) {
    Lanes result;
    for (size_t i = 0; i < packs; ++i)
      result.pack[i] = f(i);
    return result;
  }
};

/// Which lanes.
template <typename Pack>
struct LaneMask {
  typename Pack::Mask pack[Lanes<Pack>::packs];
};

#define AUTOPAR_LANES_BINARY(name, expression)                                 \
  template <typename Pack>                                                     \
  inline Lanes<Pack> name(const Lanes<Pack> &x, const Lanes<Pack> &y) {        \
    return Lanes<Pack>::each([&](size_t i) {                                   \
      Pack a = x.pack[i], b = y.pack[i];                                       \
      return expression;                                                       \
    });                                                                        \
  }
AUTOPAR_LANES_BINARY(operator+, a + b)
AUTOPAR_LANES_BINARY(operator-, a - b)
AUTOPAR_LANES_BINARY(operator*, a *b)
AUTOPAR_LANES_BINARY(operator/, a / b)
AUTOPAR_LANES_BINARY(least, least(a, b))
AUTOPAR_LANES_BINARY(most, most(a, b))
#undef AUTOPAR_LANES_BINARY

#define AUTOPAR_LANES_UNARY(name)                                              \
  template <typename Pack>                                                     \
  inline Lanes<Pack> name(const Lanes<Pack> &x) {                              \
    return Lanes<Pack>::each([&](size_t i) { return name(x.pack[i]); });       \
  }
AUTOPAR_LANES_UNARY(root)
AUTOPAR_LANES_UNARY(exponentOf)
AUTOPAR_LANES_UNARY(mantissaOf)
AUTOPAR_LANES_UNARY(powerOfTwo)
#undef AUTOPAR_LANES_UNARY

template <typename Pack>
inline LaneMask<Pack> isAbove(const Lanes<Pack> &a, const Lanes<Pack> &b) {
  LaneMask<Pack> mask;
  for (size_t i = 0; i < Lanes<Pack>::packs; ++i)
    mask.pack[i] = isAbove(a.pack[i], b.pack[i]);
  return mask;
}
template <typename Pack>
inline Lanes<Pack> choose(const LaneMask<Pack> &mask, const Lanes<Pack> &a,
                          const Lanes<Pack> &b) {
  return Lanes<Pack>::each(
      [&](size_t i) { return choose(mask.pack[i], a.pack[i], b.pack[i]); });
}
template <typename Pack>
inline double firstLane(const Lanes<Pack> &value) {
  double first;
  std::memcpy(&first, &value, sizeof(first));
  return first;
}
template <typename Pack>
inline Lanes<Pack> knotAt(const double *knots, const Lanes<Pack> &index) {
  double at[lanes];
  std::memcpy(at, &index, sizeof(at));
  for (double &one : at)
    one = knots[static_cast<size_t>(one)];
  Lanes<Pack> result;
  std::memcpy(&result, at, sizeof(at));
  return result;
}

template <typename Pack>
inline void runLanes(const TapeView &tape, double *slots) {
  run(tape, reinterpret_cast<Lanes<Pack> *>(slots));
}

} // namespace
} // namespace autopar

#endif // AUTOPAR_LIB_COST_LANES_H
