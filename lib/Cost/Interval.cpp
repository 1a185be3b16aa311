//===- Interval.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Interval.h"

#include "LayoutState.h"
#include "ShapeState.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::runtime;

struct Enclosure::Links : LayoutState {
  Links(const Tape &tape, const Pool &pool, const Runtime &runtime)
      : LayoutState(tape, pool, runtime),
        shapes(tape, pool.chip, runtime.ideal) {}

  ShapeState shapes;
};

Enclosure::Enclosure(const Tape &tape, const Machine &machine,
                     const Runtime &runtime)
    : tape(tape),
      links(std::make_unique<Links>(tape, machine.pools.front(), runtime)),
      slots(tape.slots) {
  for (auto [slot, value] : tape.constants)
    slots[slot] = {value, value};
}
Enclosure::~Enclosure() = default;

namespace {
/// The direction in which the result of an op changes with an operand.
enum class Trend : int8_t { falls = -1, none = 0, rises = 1 };
} // namespace

/// Returns the trends of an op for operands that are not negative. Only
/// differences may be negative.
static std::array<Trend, 3> trendsOf(Op op) {
  constexpr Trend up = Trend::rises, down = Trend::falls, none = Trend::none;
  switch (op) {
  case Op::subtract:
  case Op::divide:
  case Op::ceil_divide:
  case Op::floor_divide:
  case Op::split:
    return {up, down, none};
  case Op::scale:
  case Op::scale_down:
    return {up, up, down};
  case Op::launch:
  case Op::roof:
    return {up, up, none};
  case Op::floor:
  case Op::picoseconds:
  case Op::call:
  case Op::call_bound:
    return {up, none, none};
  default:
    return {up, up, up};
  }
}

/// Returns the product of two intervals that may be negative: the extremes are
/// among the four products of their ends.
static Interval multiply(Interval a, Interval b) {
  auto [low, high] = std::minmax(
      {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

/// Returns the two ends of an interval and the knots of a table between them.
static std::vector<double> turnsOf(Interval interval, double first,
                                   double last) {
  std::vector<double> turns = {interval.low, interval.high};
  for (int knot = static_cast<int>(first); knot <= static_cast<int>(last);
       ++knot)
    if (interval.low < knot && knot < interval.high)
      turns.push_back(knot);
  return turns;
}

/// Returns the bounds of a table of shapes. Between knots the table is linear
/// in each size, so that extremes lie at knots or ends.
static Interval enclosedRatio(const ShapeView &view, Interval x, Interval y) {
  std::vector<double> ratios;
  for (double a : turnsOf(x, view.firstX, view.lastX))
    for (double b : turnsOf(y, view.firstY, view.lastY))
      ratios.push_back(shapeRatio(view, a, b));
  auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return {*low, *high};
}

Interval Enclosure::calculate(const Instruction &step) const {
  const Interval &a = slots[step.a];
  auto operand = [&](uint32_t slot) { return slots[slot]; };
  if (step.op == Op::multiply)
    return multiply(a, operand(step.b));
  if (step.op == Op::multiply_add) {
    Interval product = multiply(operand(step.b), operand(step.c));
    return {a.low + product.low, a.high + product.high};
  }
  if (step.op == Op::select) {
    Interval b = operand(step.b), c = operand(step.c);
    if (a.low > 0)
      return b;
    return a.high > 0
               ? Interval{std::min(b.low, c.low), std::max(b.high, c.high)}
               : c;
  }
  if (step.op == Op::above) {
    Interval b = operand(step.b);
    return {a.low > b.high ? 1.0 : 0.0, a.high > b.low ? 1.0 : 0.0};
  }
  if (step.op == Op::launch_at_rates)
    return launch(step);
  // With a larger exponent the share of the first quarter rises, and those of
  // the other quarters fall.
  if (step.op == Op::quarter_share) {
    auto [low, high] = std::minmax(
        {quarterShare(a.low, step.b), quarterShare(a.high, step.b)});
    return {low, high};
  }
  if (step.op == Op::shape_ratio)
    return enclosedRatio(links->shapes.views()[step.c], a, operand(step.b));
  unsigned operands = operandsOf(step.op);
  const uint32_t read[] = {step.a, step.b, step.c};
  std::array<Trend, 3> trends = trendsOf(step.op);
  // For calls and pairs, an operand is not a node but the index of a route or
  // of a rule.
  Instruction local{step.op, 0, 0, operands > 1 ? 1 : step.b,
                    operands > 2 ? 2 : step.c};
  auto corner = [&](bool high) {
    double values[3] = {};
    for (unsigned i = 0; i < operands; ++i) {
      bool takesHigh = (trends[i] == Trend::rises) == high;
      values[i] = takesHigh ? slots[read[i]].high : slots[read[i]].low;
    }
    return autopar::cost::calculate(
        local, {nullptr, links->routes(), tape.pairs.data()}, values);
  };
  return {corner(false), corner(true)};
}

Interval Enclosure::launch(const Instruction &step) const {
  const LaunchRates &rates = tape.rates[step.c];
  auto corner = [&](bool high) {
    auto at = [&](uint32_t slot) {
      return high ? slots[slot].high : slots[slot].low;
    };
    const double values[] = {at(step.a) * at(rates[0]),
                             at(step.b) * at(rates[1]), at(rates[2])};
    return autopar::cost::calculate({Op::launch, 0, 0, 1, 2},
                                    {nullptr, nullptr, nullptr}, values);
  };
  return {corner(false), corner(true)};
}

void Enclosure::run(Rank rank) {
  const Instruction *step = tape.code[static_cast<size_t>(rank)].data();
  for (; step->op != Op::stop; ++step)
    slots[step->out] = calculate(*step);
}

/// A box has only one layout. Sizes that the layout fixes are therefore
/// numbers, not intervals.
void Enclosure::layShapes() {
  std::vector<double> values;
  for (const Interval &slot : slots)
    values.push_back(slot.low);
  links->shapes.lay(values.data());
}

std::vector<Interval> Enclosure::enclose(const Layout &layout, const Box &box) {
  links->lay(layout);
  for (Rank rank :
       {Rank::constant, Rank::figure, Rank::layout, Rank::point, Rank::part}) {
    for (const TapeInput &input : tape.inputs[static_cast<size_t>(rank)]) {
      double value = links->valueOf(input.op, input.index);
      slots[input.slot] = input.op == Op::figure   ? box.figures[input.index]
                          : input.op == Op::symbol ? box.symbols[input.index]
                                                   : Interval{value, value};
    }
    run(rank);
    if (rank == Rank::layout)
      layShapes();
  }
  std::vector<Interval> outputs;
  for (uint32_t slot : tape.outputs)
    outputs.push_back(slots[slot]);
  return outputs;
}
