//===- Exact.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Exact.h"

#include "Requirements.h"
#include "ShapeState.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;

struct ExactValues::Links : LayoutState {
  Links(const Strategy &strategy, const Pool &pool, const Runtime &runtime)
      : LayoutState(strategy, pool, runtime),
        shapes(strategy, pool.chip, runtime.ideal) {}

  ShapeState shapes;
};

ExactValues::ExactValues(const Strategy &strategy, const Machine &machine,
                         const Runtime &runtime,
                         std::optional<double> memoryUtilization)
    : strategy(strategy), bound(bindFigures(strategy, machine.pools.front(),
                                            runtime, memoryUtilization)),
      links(std::make_unique<Links>(strategy, machine.pools.front(), runtime)),
      wholes(strategy.graph.size()), reals(strategy.graph.size()) {}
ExactValues::~ExactValues() = default;
ExactValues::ExactValues(ExactValues &&) noexcept = default;

const Route &ExactValues::route(uint32_t link) const {
  return links->route(link);
}

const ShapeGrid *ExactValues::shape(uint32_t index) const {
  return links->shapes.grid(index);
}

//===----------------------------------------------------------------------===//
// Whole numbers with checked overflow
//===----------------------------------------------------------------------===//

namespace {
/// The number type `Checked` with the constructors that the formulas of Run.h
/// need.
struct Whole : Checked {
  Whole(Checked value) : Checked(value) {}
  Whole(int64_t value) : Checked(value) {}
};
Whole operator+(Whole a, Whole b) { return Checked(a) + Checked(b); }
Whole operator-(Whole a, Whole b) { return Checked(a) - Checked(b); }
Whole operator*(Whole a, Whole b) { return Checked(a) * Checked(b); }
Whole floorQuotient(Whole a, Whole b) { return floorDiv(a, b); }
Whole least(Whole a, Whole b) { return b < a ? b : a; }
Whole most(Whole a, Whole b) { return a < b ? b : a; }
bool isAbove(Whole a, Whole b) { return a > b; }
Whole choose(bool first, Whole a, Whole b) { return first ? a : b; }
} // namespace

/// Converts a double that holds an integer. A value above 127 bits becomes an
/// overflow.
static Checked toWhole(double value) {
  constexpr double largest = 1e38;
  if (!(std::fabs(value) < largest))
    return Checked(INT64_MAX) * INT64_MAX * INT64_MAX;
  constexpr double half = 9223372036854775808.0; // 2^63
  if (std::fabs(value) < half)
    return static_cast<int64_t>(value);
  double high = std::floor(value / half);
  return Checked(static_cast<int64_t>(high)) * INT64_MAX +
         static_cast<int64_t>(high) + static_cast<int64_t>(value - high * half);
}

Checked ExactValues::wholeOf(NodeId id) const {
  const Node &node = strategy.graph[id];
  Checked a = wholes[node.a];
  auto b = [&] { return wholes[node.b]; };
  auto c = [&] { return wholes[node.c]; };
  switch (node.op) {
  case Op::add:
    return a + b();
  case Op::subtract:
    return a - b();
  case Op::multiply:
    return a * b();
  case Op::minimum:
    return std::min(a, b());
  case Op::maximum:
    return b().valid() && a.valid() ? std::max(a, b()) : a + b();
  case Op::ceil_divide:
    return ceilDiv(a, b());
  case Op::floor_divide:
    return floorDiv(a, b());
  case Op::split:
    return ceilDiv(a, b());
  case Op::split_capped:
    return b() > a ? std::min(a, Checked(1)) : ceilDiv(a, b());
  case Op::scale:
    return ceilDiv(a * b(), c());
  case Op::scale_down:
    return floorDiv(a * b(), c());
  case Op::select:
    return a > 0 || !a.valid() ? b() : c();
  case Op::pairs:
    return pairsOf(Whole(a), Whole(b()), strategy.graph.pairsOf(node.c));
  default:
    return toWhole(reals[id]);
  }
}

double ExactValues::realOf(NodeId id) const {
  const Node &node = strategy.graph[id];
  if (node.op == Op::pairs)
    return pairsOf(reals[node.a], reals[node.b],
                   strategy.graph.pairsOf(node.c));
  // The values of earlier nodes select the table of a shape.
  if (node.op == Op::shape_ratio)
    links->shapes.lay(node.c, reals.data());
  return autopar::cost::calculate(
      {node.op, id, node.a, node.b, node.c},
      {nullptr, links->routes(), nullptr, links->shapes.views()}, reals.data());
}

static int64_t valueOf(Symbol symbol, const Workload &workload) {
  switch (symbol) {
  case Symbol::batch:
    return workload.batch;
  case Symbol::query:
    return workload.query;
  case Symbol::context:
    return workload.context;
  case Symbol::source:
    return workload.encoderTokens;
  case Symbol::memory:
    return workload.crossTokens;
  }
  return 0;
}

void ExactValues::calculate(NodeId id, const std::vector<Workload> &groups) {
  const Node &node = strategy.graph[id];
  if (node.op == Op::figure) {
    reals[id] = bound[node.a].value;
    return;
  }
  if (node.op == Op::constant) {
    wholes[id] = strategy.graph.valueOf(node);
  } else if (node.op == Op::symbol) {
    wholes[id] = valueOf(static_cast<Symbol>(node.a % symbolCount),
                         groups[node.a / symbolCount]);
  } else if (operandsOf(node.op) == 0) {
    wholes[id] = toWhole(links->valueOf(node.op, node.a));
  } else {
    reals[id] = realOf(id);
    if (!node.isWhole)
      return;
    wholes[id] = wholeOf(id);
  }
  // An integer that overflows keeps its double, which is large and about right;
  // its wrapped bits would be wrong.
  if (wholes[id].valid())
    reals[id] = wholes[id].real();
}

//===----------------------------------------------------------------------===//
// Whether requirements are met
//===----------------------------------------------------------------------===//

/// A requirement that names no devices divides by 1.
bool ExactValues::isMet(const Requirement &requirement) const {
  auto value = [&](NodeId node) {
    return node == noNode ? Checked(1) : wholes[node];
  };
  return holds(requirement.kind, value(requirement.extent),
               value(requirement.devices), requirement.index, *links, bound);
}

Refusal ExactValues::evaluate(const Layout &layout,
                              const std::vector<Workload> &groups) {
  links->lay(layout);
  for (NodeId id = 0; id < strategy.graph.size(); ++id)
    calculate(id, groups);
  for (uint32_t i = 0; i < strategy.requirements.size(); ++i)
    if (!isMet(strategy.requirements[i]))
      return {Refusal::Kind::requirement, i};
  return findBadExponent(strategy, bound);
}
