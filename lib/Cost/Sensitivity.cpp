//===- Sensitivity.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Sensitivity.h"

#include "LayoutState.h"
#include "ShapeState.h"

#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::runtime;

/// Two sides of a choice count as equal if they differ by less than this
/// fraction, which is above the rounding error of doubles.
static constexpr double tieTolerance = 1e-12;

Machine autopar::cost::withLinkFigure(const Machine &machine, LinkFigure figure,
                                      double value) {
  Machine other = machine;
  Tier &tier = other.pools.front().tiers[figure.tier];
  Figure &replaced = tier.*figure.figure;
  replaced.source.replaced = replaced.fileValue();
  replaced.value = value;
  scaleCurves(tier);
  return other;
}

Sensitivity::Sensitivity(const Strategy &strategy, const Machine &machine,
                         const Runtime &runtime,
                         std::optional<double> memoryUtilization)
    : strategy(strategy), machine(machine), runtime(runtime),
      bound(bindFigures(strategy, machine.pools.front(), runtime,
                        memoryUtilization)) {
  for (size_t tier = 0; tier < machine.pools.front().tiers.size(); ++tier)
    for (Figure Tier::*figure :
         {&Tier::bandwidth, &Tier::efficiency, &Tier::latency})
      links.push_back({tier, figure});
}

void Sensitivity::lay(const Layout &wanted, Point point) {
  layout = wanted;
  groups.assign(point.begin(), point.end());
  std::vector<double> figures;
  for (const BoundFigure &figure : bound)
    figures.push_back(figure.value);
  values = evaluate(figures, machine);
}

//===----------------------------------------------------------------------===//
// Values of nodes without rounding
//===----------------------------------------------------------------------===//

/// Returns the value of an op without the rounding of this op.
static double smooth(const Node &node, const std::vector<double> &values,
                     const TapeView &tape) {
  double a = values[node.a];
  switch (node.op) {
  case Op::ceil_divide:
  case Op::floor_divide:
    return a / values[node.b];
  case Op::floor:
    return a;
  case Op::scale:
  case Op::scale_down:
    return a * values[node.b] / values[node.c];
  case Op::round_product:
    return a * values[node.b];
  case Op::launch:
    return smoothMaximum(a, values[node.b], values[node.c]) * picosecondsPerUs;
  case Op::picoseconds:
    return a * picosecondsPerUs;
  case Op::shaped:
    return a * values[node.b];
  case Op::call:
    return routeTime(tape.routes[node.b], a, tape.routes[node.b].ideal) *
           picosecondsPerUs;
  default: {
    Instruction step{node.op, 0, node.a, node.b, node.c};
    return calculate(step, tape, values.data());
  }
  }
}

std::vector<double> Sensitivity::evaluate(const std::vector<double> &figures,
                                          const Machine &on) const {
  LayoutState state(strategy, on.pools.front(), runtime);
  state.lay(layout);
  std::vector<PairsRule> pairs = pairsRulesOf(strategy.graph);
  ShapeState shapes(strategy, on.pools.front().chip, runtime.ideal);
  TapeView view{nullptr, state.routes(), pairs.data(), shapes.views()};
  std::vector<double> result(strategy.graph.size());
  for (NodeId id = 0; id < result.size(); ++id) {
    const Node &node = strategy.graph[id];
    if (node.op == Op::constant)
      result[id] = static_cast<double>(strategy.graph.valueOf(node));
    else if (node.op == Op::figure)
      result[id] = figures[node.a];
    else if (node.op == Op::symbol)
      result[id] = Point(groups).symbol(node.a);
    else if (operandsOf(node.op) == 0)
      result[id] = state.valueOf(node.op, node.a);
    else {
      if (node.op == Op::shape_ratio)
        shapes.lay(node.c, result.data());
      result[id] = smooth(node, result, view);
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Derivatives of nodes
//===----------------------------------------------------------------------===//

/// Returns d/da and d/db of (a^q + b^q)^(1/q), or of max(a, b); if a and b are
/// equal, the slope of the maximum goes to b.
static std::pair<double, double> slopesOfRoof(double a, double b, double q) {
  double high = most(a, b);
  if (high <= 0)
    return {0, 0};
  if (q == 0)
    return {a > b ? 1 : 0, a > b ? 0 : 1};
  double time = smoothMaximum(a, b, q);
  return {std::pow(a / time, q - 1), std::pow(b / time, q - 1)};
}

/// Returns d/ds of `quarterShare`: the difference of 4^s n^(1-s) (ln 4 - ln n)
/// between both ends n of the quarter.
static double slopeOfShare(double s, uint32_t quarter) {
  auto upTo = [&](double end) {
    return end == 0 ? 0
                    : std::pow(4, s) * std::pow(end, 1 - s) *
                          (std::log(4) - std::log(end));
  };
  return upTo(quarter + 1.0) - upTo(quarter);
}

void Sensitivity::addToOperands(NodeId id, bool takesFirst,
                                std::vector<double> &adjoints) const {
  const Node &node = strategy.graph[id];
  double adjoint = adjoints[id], a = values[node.a];
  auto add = [&](NodeId operand, double slope) {
    adjoints[operand] += adjoint * slope;
  };
  auto b = [&] { return values[node.b]; };
  auto c = [&] { return values[node.c]; };
  bool isTie = operandsOf(node.op) > 1 &&
               std::fabs(a - b()) <= tieTolerance * std::fabs(a);
  switch (node.op) {
  case Op::add:
    add(node.a, 1);
    return add(node.b, 1);
  case Op::subtract:
    add(node.a, 1);
    return add(node.b, -1);
  case Op::multiply:
  case Op::round_product:
  case Op::shaped:
    add(node.a, b());
    return add(node.b, a);
  case Op::divide:
  case Op::ceil_divide:
  case Op::floor_divide:
  case Op::split:
    add(node.a, 1 / b());
    return add(node.b, -a / (b() * b()));
  case Op::minimum:
    return add((isTie ? takesFirst : a < b()) ? node.a : node.b, 1);
  case Op::maximum:
    return add((isTie ? takesFirst : a > b()) ? node.a : node.b, 1);
  case Op::floor:
    return add(node.a, 1);
  case Op::scale:
  case Op::scale_down:
    add(node.a, b() / c());
    add(node.b, a / c());
    return add(node.c, -a * b() / (c() * c()));
  case Op::select:
    return add(a > 0 ? node.b : node.c, 1);
  case Op::roof:
  case Op::launch: {
    auto [ofA, ofB] = slopesOfRoof(a, b(), c());
    double unit = node.op == Op::launch ? picosecondsPerUs : 1;
    add(node.a, ofA * unit);
    return add(node.b, ofB * unit);
  }
  case Op::picoseconds:
    return add(node.a, picosecondsPerUs);
  case Op::distinct_experts: {
    double left = b() < a ? std::pow(1 - b() / a, c() - 1) : 0;
    return add(node.b, c() * left);
  }
  case Op::quarter_share:
    return add(node.a, slopeOfShare(a, node.b));
  default:
    // Sizes, pairs and ratios of shapes depend on no figure. The slopes of
    // calls are found by `linkSlopes`.
    return;
  }
}

std::vector<double> Sensitivity::sweep(const std::vector<NodeId> &outputs,
                                       bool takesFirst) const {
  std::vector<double> adjoints(strategy.graph.size());
  for (NodeId output : outputs)
    adjoints[output] += 1;
  for (NodeId id = static_cast<NodeId>(adjoints.size()); id-- > 0;)
    if (adjoints[id] != 0 && operandsOf(strategy.graph[id].op) != 0)
      addToOperands(id, takesFirst, adjoints);
  return adjoints;
}

/// Returns the time of all calls on machine `on`, each call weighted by its
/// adjoint. Calls depend on a link's figures only through their routes.
double Sensitivity::timeOfCalls(const Machine &on,
                                const std::vector<double> &adjoints) const {
  LayoutState state(strategy, on.pools.front(), runtime);
  state.lay(layout);
  double sum = 0;
  for (NodeId id = 0; id < adjoints.size(); ++id) {
    const Node &node = strategy.graph[id];
    if (node.op != Op::call || adjoints[id] == 0)
      continue;
    const RouteView &route = state.routes()[node.b];
    sum += adjoints[id] * picosecondsPerUs *
           routeTime(route, values[node.a], route.ideal);
  }
  return sum;
}

std::vector<double> Sensitivity::linkSlopes(
    const std::function<double(const Machine &)> &time) const {
  constexpr double step = 1e-5;
  std::vector<double> slopes;
  for (const LinkFigure &link : links) {
    const Tier &tier = machine.pools.front().tiers[link.tier];
    double value = (tier.*link.figure).value;
    auto at = [&](double factor) {
      return time(withLinkFigure(machine, link, value * factor));
    };
    slopes.push_back((at(1 + step) - at(1 - step)) / (2 * step));
  }
  return slopes;
}

std::vector<double>
Sensitivity::slopesOf(const std::vector<double> &adjoints) const {
  std::vector<double> slopes(bound.size());
  for (NodeId id = 0; id < adjoints.size(); ++id) {
    const Node &node = strategy.graph[id];
    if (node.op == Op::figure && adjoints[id] != 0)
      slopes[node.a] += adjoints[id] * bound[node.a].value;
  }
  std::vector<double> ofLinks = linkSlopes(
      [&](const Machine &other) { return timeOfCalls(other, adjoints); });
  slopes.insert(slopes.end(), ofLinks.begin(), ofLinks.end());
  return slopes;
}

/// Returns the slope on one side of the figure's value: above if `step` is
/// positive, below if it is negative.
double Sensitivity::oneSided(const std::vector<NodeId> &outputs, size_t figure,
                             double step) const {
  std::vector<double> figures;
  for (const BoundFigure &one : bound)
    figures.push_back(one.value);
  figures[figure] *= 1 + step;
  std::vector<double> moved = evaluate(figures, machine);
  double change = 0;
  for (NodeId output : outputs)
    change += moved[output] - values[output];
  return change / step;
}

std::vector<Slope>
Sensitivity::slopes(const std::vector<NodeId> &outputs) const {
  std::vector<double> first = slopesOf(sweep(outputs, /*takesFirst=*/true));
  std::vector<double> second = slopesOf(sweep(outputs, /*takesFirst=*/false));
  std::vector<Slope> result;
  constexpr double step = 1e-7;
  for (size_t i = 0; i < first.size(); ++i) {
    Slope slope{first[i], first[i]};
    if (first[i] != second[i] && i < bound.size())
      slope = {oneSided(outputs, i, -step), oneSided(outputs, i, step)};
    result.push_back(slope);
  }
  return result;
}
