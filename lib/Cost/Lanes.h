//===- Lanes.h - Sixteen points at once -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file per instruction set includes this after it has defined `Pack`, a
// register of doubles, with + - * / and the functions of one double in
// Numbers.h.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_LANES_H
#define AUTOPAR_LIB_COST_LANES_H

#include "Run.h"

namespace autopar::cost {

inline constexpr size_t lanes = 16;

/// The functions that run tapes, compiled for one instruction set. `slots[i *
/// lanes]` is the beginning of slot i.
struct LaneRunner {
  /// Runs the instructions of a tape that depend on the point, for all lanes.
  void (*run)(const TapeView &tape, double *slots);
  /// Copies the values of the listed slots into all lanes of these slots.
  void (*broadcast)(const uint32_t *listed, size_t count, const double *values,
                    double *slots);
  /// Copies the values of the listed slots to `outputs`. Returns the number of
  /// slots before the first one that has a lane which is NaN or exceeds
  /// `limit`.
  size_t (*collect)(const uint32_t *listed, size_t count, const double *slots,
                    double limit, double *outputs);
};
extern const LaneRunner sse2Runner, avx2Runner, avx512Runner;
/// Returns the runner for the widest instruction set of this machine.
const LaneRunner &chooseLaneRunner();

namespace {

/// Sixteen doubles, which one operation computes together.
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

/// Says for each of sixteen lanes whether a condition holds.
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
  return Lanes<Pack>::each(
      [&](size_t i) { return knotAt(knots, index.pack[i]); });
}

template <typename Pack>
struct LaneFunctions {
  using Slot = Lanes<Pack>;

  static void runTape(const TapeView &tape, double *slots) {
    run(tape, reinterpret_cast<Slot *>(slots));
  }
  static void broadcast(const uint32_t *listed, size_t count,
                        const double *values, double *slots) {
    auto *all = reinterpret_cast<Slot *>(slots);
    for (size_t i = 0; i < count; ++i)
      all[listed[i]] = Slot(values[listed[i]]);
  }
  static size_t collect(const uint32_t *listed, size_t count,
                        const double *slots, double limit, double *outputs) {
    const auto *all = reinterpret_cast<const Slot *>(slots);
    size_t good = count;
    for (size_t i = count; i-- > 0;) {
      const Slot &slot = all[listed[i]];
      std::memcpy(outputs + i * lanes, &slot, sizeof(slot));
      if (!isWithin(slot, limit))
        good = i;
    }
    return good;
  }

private:
  /// The comparison fails for NaN, so that NaN is not within any limit.
  static bool isWithin(const Slot &slot, double limit) {
    const Pack zero(0.0), one(1.0), most(limit);
    Pack good = one;
    for (const Pack &pack : slot.pack) {
      good = choose(isAbove(pack, most), zero, good);
      good = choose(isAbove(zero - most, pack), zero, good);
      good = good + (pack - pack);
    }
    double all[Pack::width];
    std::memcpy(all, &good, sizeof(all));
    double product = 1;
    for (double lane : all)
      product *= lane;
    return product == 1;
  }
};

template <typename Pack>
inline constexpr LaneRunner laneRunnerOf{LaneFunctions<Pack>::runTape,
                                         LaneFunctions<Pack>::broadcast,
                                         LaneFunctions<Pack>::collect};

} // namespace
} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_LANES_H
