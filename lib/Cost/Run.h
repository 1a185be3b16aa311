//===- Run.h - Interprets a tape, in any number of lanes --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain data and templates only, because this is compiled for several
// instruction sets.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_RUN_H
#define AUTOPAR_LIB_COST_RUN_H

#include "Numbers.h"

#include "autopar/Cost/Tape.h"

#include <cstddef>
#include <utility>

/// Without tail calls, the stack of an unoptimised build grows with the length
/// of the tape.
#if defined(__has_cpp_attribute) && __has_cpp_attribute(clang::musttail)
#define AUTOPAR_TAIL_CALL [[clang::musttail]]
#else
#define AUTOPAR_TAIL_CALL
#endif

namespace autopar::hardware {
struct Pool;
} // namespace autopar::hardware

namespace autopar::program {
enum class CollectiveKind : uint8_t;
} // namespace autopar::program

namespace autopar::cost {

struct Route;

/// A `RouteLevel` as plain data: the knots `knots[0]` to `knots[last]`, and one
/// more knot that is proportional to the bytes. A step without knots has the
/// latency and bandwidth of one choice of algorithm. `isOther` says whether the
/// step is an alternative to the previous step.
struct RouteStep {
  double latencyUs, usPerByte, boundUsPerByte, firstLog2;
  const double *knots;
  uint32_t last;
  bool isOther;
};
std::vector<RouteStep> stepsOf(const Route &route);

struct RouteView {
  const RouteStep *steps;
  uint32_t count;
  bool ideal;
  /// Whether any step of the route has knots.
  bool hasCurve;
  /// Whether the steps of the route run at the same time.
  bool overlaps;
};
RouteView viewOf(const std::vector<RouteStep> &steps, const Route &route);

/// Adds to a route the start-up time `startUs` of a collective that leaves its
/// node, once per call (`Runtime::collectiveStartUs`). Messages between two
/// devices have no start-up time, because they are posted outside of graphs,
/// beside kernels. Exchanges of tokens have none either: DeepEP and PPLX post
/// their messages on the device (IBGDA).
void addStart(const hardware::Pool &pool, program::CollectiveKind kind,
              double startUs, Route &route);

/// A `ShapeGrid` as plain data: `ratios[x * stride + y]`, counted in octaves
/// from the first size of each side. A view without ratios is 1 everywhere.
struct ShapeView {
  const double *ratios = nullptr;
  double firstX = 0, lastX = 0, firstY = 0, lastY = 0;
  uint32_t stride = 1;
};

/// The rates for ops that are calculated one at a time.
inline constexpr LaunchRates noRates{};

struct TapeView {
  /// The instructions, up to `Op::stop`.
  const Instruction *code;
  const RouteView *routes;
  const PairsRule *pairs;
  const ShapeView *shapes = nullptr;
  const LaunchRates *rates = &noRates;
};

namespace {

//===----------------------------------------------------------------------===//
// Time of a call over a route
//===----------------------------------------------------------------------===//

inline double knotAt(const double *knots, double index) {
  return knots[static_cast<size_t>(index)];
}

template <typename V>
inline V stepTime(const RouteStep &step, V bytes, V log2Bytes) {
  if (!step.knots)
    return V(step.latencyUs) + bytes * V(step.usPerByte);
  V x = most(log2Bytes - V(step.firstLog2), V(0));
  V index = least(wholeBelow(x), V(step.last));
  V low = knotAt(step.knots, index), high = knotAt(step.knots, index + V(1));
  return exp2Of(low + (x - index) * (high - low));
}

template <typename V>
inline V stepBound(const RouteStep &step, V bytes, V log2Bytes) {
  return least(bytes * V(step.boundUsPerByte),
               stepTime(step, bytes, log2Bytes));
}

template <typename V>
inline V routeTime(const RouteView &route, V bytes, bool atFullBandwidth) {
  V total = V(0), log2Bytes = V(0);
  if (route.hasCurve)
    log2Bytes = log2Of(most(bytes, V(1)));
  auto timeOf = [&](const RouteStep &step) {
    return atFullBandwidth ? stepBound(step, bytes, log2Bytes)
                           : stepTime(step, bytes, log2Bytes);
  };
  for (uint32_t i = 0; i < route.count; ++i) {
    V time = timeOf(route.steps[i]);
    while (i + 1 < route.count && route.steps[i + 1].isOther)
      time = least(time, timeOf(route.steps[++i]));
    total = route.overlaps ? most(total, time) : total + time;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Ratios from tables of shapes
//===----------------------------------------------------------------------===//

template <typename V>
inline V octaveOf(V size) {
  return exponentOf(size) + (mantissaOf(size) - V(1));
}

/// The place of an octave on one side of a grid: the knot below the octave (at
/// most the last but one), and the fraction of the way from this knot to the
/// next.
template <typename V>
struct GridPlace {
  V below, share;

  GridPlace(V octave, double first, double last) {
    octave = least(most(octave - V(first), V(0)), V(last - first));
    below = least(wholeBelow(octave), V(last - first - 1));
    share = octave - below;
  }
};

template <typename V>
inline V shapeRatio(const ShapeView &view, V x, V y) {
  if (!view.ratios)
    return V(1);
  GridPlace<V> along(x, view.firstX, view.lastX);
  /// Interpolates between a knot and the next one.
  auto between = [&](V index, V share) {
    V low = knotAt(view.ratios, index);
    return low + share * (knotAt(view.ratios, index + V(1)) - low);
  };
  if (view.stride == 1)
    return between(along.below, along.share);
  GridPlace<V> across(y, view.firstY, view.lastY);
  V corner = along.below * V(view.stride) + across.below;
  V first = between(corner, across.share);
  V second = between(corner + V(view.stride), across.share);
  return first + along.share * (second - first);
}

//===----------------------------------------------------------------------===//
// Pairs of queries and keys
//===----------------------------------------------------------------------===//

/// Returns first + (first+1) + ... + last.
template <typename N>
inline N sumRange(N first, N last) {
  return floorQuotient((last - first + N(1)) * (first + last), N(2));
}

/// Returns how many keys the first `tokens` queries of a sequence see in their
/// chunks, summed over these queries.
template <typename N>
inline N sumOfChunks(N tokens, N chunk) {
  N whole = floorQuotient(tokens, chunk);
  return whole * sumRange(N(1), chunk) + sumRange(N(1), tokens - whole * chunk);
}

template <typename N>
inline N chunkedPairs(N query, N context, N chunk, bool causal) {
  if (causal)
    return sumOfChunks(context, chunk) - sumOfChunks(context - query, chunk);
  // The last chunk may be shorter than the others.
  N last = context - floorQuotient(context, chunk) * chunk;
  N inLast = least(query, last);
  return inLast * last + (query - inLast) * chunk;
}

/// Returns 0 + 1 + ... over the first `tokens` integers, each limited to
/// `most`.
template <typename N>
inline N sumUpTo(N tokens, N most) {
  N growing = least(tokens, most + N(1));
  return floorQuotient(growing * (growing - N(1)), N(2)) +
         (tokens - growing) * most;
}

template <typename N>
inline N pairsAround(N query, N context, N window) {
  N seeing = least(query, context), side = floorQuotient(window, N(2));
  return seeing + sumUpTo(seeing, side) + sumUpTo(context, side) -
         sumUpTo(context - seeing, side);
}

/// Number of (query, key) pairs of `query` new tokens with `context` cached
/// after the step.
///
/// Causal: the query at position p (context-query to context-1) sees min(p+1,
/// window) keys, which without a window is query*context - query*(query-1)/2.
/// Not causal: query*context; a window leaves the h = window/2 keys on either
/// side of the query's own, query + D(query) + D(context) - D(context-query)
/// with D(n) = min(0, h) + min(1, h) + ... + min(n-1, h). A `window` of 0 is
/// none.
///
/// With a `chunk` c, causal: p mod c + 1 keys, summed over the prefixes before
/// and after the step, S(context) - S(context-query) with S(n) =
/// floor(n/c)*c*(c+1)/2 + r*(r+1)/2, r = n mod c. Not causal: all cached keys
/// of the chunk. Physics: FlashAttention-2 (arXiv:2307.08691) section 3.1.1
/// halves the square, this is exact.
template <typename N, typename Rule>
inline N pairsOf(N query, N context, const Rule &rule) {
  if (rule.chunk != 0)
    return chunkedPairs(query, context, N(rule.chunk), rule.causal);
  if (!rule.causal)
    return rule.window != 0 ? pairsAround(query, context, N(rule.window))
                            : query * context;
  N limit = rule.window != 0 ? least(context, N(rule.window)) : context;
  // A query before the first key sees no key; without keys, no query sees one.
  N first = most(context - query + N(1), N(1));
  N growing =
      sumRange(first, most(limit, first - N(1))) + (context - limit) * limit;
  return choose(isAbove(limit, context - query + N(1)), growing, query * limit);
}

//===----------------------------------------------------------------------===//
// Running the instructions of a tape
//===----------------------------------------------------------------------===//

inline double firstLane(double value) { return value; }

/// Calculates one instruction. `op` is the op of `step`; if it is a
/// compile-time constant, the switch folds to one case.
template <typename V>
[[gnu::always_inline]] inline V calculate(Op op, const Instruction &step,
                                          const TapeView &tape,
                                          const V *slots) {
  const V &a = slots[step.a], zero = V(0), one = V(1);
  auto b = [&]() -> const V & { return slots[step.b]; };
  auto c = [&]() -> const V & { return slots[step.c]; };
  switch (op) {
  case Op::multiply_add:
    return a + b() * c();
  case Op::multiply:
    return a * b();
  case Op::launch_at_rates: {
    const LaunchRates &rates = tape.rates[step.c];
    return nearest(smoothMaximum(a * slots[rates[0]], b() * slots[rates[1]],
                                 firstLane(slots[rates[2]])) *
                   V(picosecondsPerUs));
  }
  case Op::launch:
    return nearest(smoothMaximum(a, b(), firstLane(c())) * V(picosecondsPerUs));
  case Op::add:
    return a + b();
  case Op::subtract:
    return a - b();
  case Op::divide:
    return a / b();
  case Op::minimum:
    return least(a, b());
  case Op::maximum:
    return most(a, b());
  case Op::ceil_divide:
    return ceilQuotient(a, b());
  case Op::floor_divide:
    return floorQuotient(a, b());
  case Op::floor:
    return wholeBelow(a);
  case Op::split:
    return a / b();
  case Op::split_capped:
    return choose(isAbove(b(), a), least(a, one), a / b());
  case Op::scale:
    return wholeAbove(a * b() / c());
  case Op::scale_down:
    return scaleDown(a, b(), c());
  case Op::above:
    return choose(isAbove(a, b()), one, zero);
  case Op::select:
    return choose(isAbove(a, zero), b(), c());
  case Op::pairs:
    return pairsOf(a, b(), tape.pairs[step.c]);
  case Op::distinct_experts:
    return distinctExperts(a, b(), c());
  case Op::busiest_rows:
    return busiestRows(a, b(), c());
  case Op::quarter_share:
    return quarterShare(a, step.b);
  case Op::round_product:
    return nearestExpected(a * b());
  case Op::roof:
    return smoothMaximum(a, b(), firstLane(c()));
  case Op::octave:
    return octaveOf(a);
  case Op::shape_ratio:
    return shapeRatio(tape.shapes[step.c], a, b());
  case Op::shaped:
    return nearest(a * b());
  case Op::picoseconds:
    return nearest(a * V(picosecondsPerUs));
  case Op::call: {
    const RouteView &route = tape.routes[step.b];
    return nearest(routeTime(route, a, route.ideal) * V(picosecondsPerUs));
  }
  case Op::call_bound:
    return routeTime(tape.routes[step.b], a, true);
  default:
    return zero;
  }
}

template <typename V>
inline V calculate(const Instruction &step, const TapeView &tape,
                   const V *slots) {
  return calculate(step.op, step, tape, slots);
}

/// Runs tapes as threaded code: there is one function per op, which tail-calls
/// the function of the next op. This needs half the instructions of a loop
/// around a switch.
template <typename V>
class Threaded {
public:
  static void run(const TapeView &tape, V *slots) {
    All::steps[indexOf(tape.code->op)](
        tape.code, static_cast<const void *>(All::steps), tape, slots);
  }

private:
  /// `steps` points to an array that has the `Step` of each op.
  using Step = void (*)(const Instruction *step, const void *steps,
                        const TapeView &tape, V *slots);

  static constexpr size_t indexOf(Op op) { return static_cast<size_t>(op); }

  template <size_t op>
  static void runFrom(const Instruction *step, const void *steps,
                      const TapeView &tape, V *slots) {
    if constexpr (op != indexOf(Op::stop)) {
      slots[step->out] = calculate(static_cast<Op>(op), *step, tape, slots);
      ++step;
      Step next = static_cast<const Step *>(steps)[indexOf(step->op)];
      AUTOPAR_TAIL_CALL return next(step, steps, tape, slots);
    }
  }
  template <typename Indices>
  struct Table;
  template <size_t... op>
  struct Table<std::index_sequence<op...>> {
    static constexpr Step steps[] = {runFrom<op>...};
  };
  using All = Table<std::make_index_sequence<indexOf(Op::stop) + 1>>;
};

template <typename V>
inline void run(const TapeView &tape, V *slots) {
  Threaded<V>::run(tape, slots);
}

} // namespace
} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_RUN_H
