//===- NodeText.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeText.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::program;

std::string autopar::explanation::decimal(double value) {
  constexpr double largestExact = 9007199254740992; // 2^53
  if (value == std::floor(value) && std::fabs(value) <= largestExact)
    return std::to_string(static_cast<int64_t>(value));
  return formatNumber(value);
}

std::string autopar::explanation::times(const std::string &count,
                                        const std::string &text) {
  return count == "1" ? text : count + " x " + text;
}

std::string NodeText::value(NodeId node) const {
  return graph[node].isWhole ? step.whole(node).str()
                             : decimal(step.real(node));
}

//===----------------------------------------------------------------------===//
// Sizes as text
//===----------------------------------------------------------------------===//

/// Returns whether the node is a product of axes, which is the divisor of a
/// split.
bool NodeText::isAxes(NodeId id) const {
  const Node &node = graph[id];
  if (node.op == Op::multiply)
    return isAxes(node.a) && isAxes(node.b);
  return node.op == Op::axis;
}

/// Returns the text of a product of axes: "dpi(8)*tp(8)", without axes of one
/// device.
std::string NodeText::axesText(NodeId id) const {
  const Node &node = graph[id];
  if (node.op == Op::multiply) {
    std::string a = axesText(node.a), b = axesText(node.b);
    return a.empty() || b.empty() ? a + b : a + "*" + b;
  }
  int64_t size = step.axisSize(static_cast<AxisId>(node.a));
  return size == 1
             ? ""
             : step.program.axes[node.a] + "(" + std::to_string(size) + ")";
}

/// Returns the text of a split: "64 by tp(8)".
std::string NodeText::splitText(NodeId extent, NodeId devices,
                                const char *rule) const {
  std::string axes = axesText(devices);
  if (axes.empty())
    return sizes(extent, Bind::factor);
  return "(" + sizes(extent, Bind::sum) + " by " + axes + rule + ")";
}

/// Returns whether `node` is ceil(extent / block) * block, and sets `extent`
/// and `block`.
static bool isRounded(const Graph &graph, const Node &node, NodeId &extent,
                      NodeId &block) {
  for (auto [quotient, other] :
       {std::pair(node.a, node.b), std::pair(node.b, node.a)})
    if (node.op == Op::multiply && graph[quotient].op == Op::ceil_divide &&
        graph[quotient].b == other) {
      extent = graph[quotient].a;
      block = other;
      return true;
    }
  return false;
}

/// Returns the text of a product, in the order in which the factors were
/// written.
std::string NodeText::factors(NodeId id) const {
  const Node &node = graph[id];
  NodeId extent = 0, block = 0;
  if (isRounded(graph, node, extent, block))
    return "(" + sizes(extent, Bind::sum) + " in blocks of " + value(block) +
           ")";
  if (node.op != Op::multiply)
    return sizes(id, Bind::product);
  return times(factors(node.a), factors(node.b));
}

std::string NodeText::pairsText(const Node &node, NodeId id) const {
  const Pairs &pairs = graph.pairsOf(node.c);
  std::string text = value(id) + " pairs";
  if (pairs.window || pairs.chunk)
    return text + (pairs.causal ? " (causal, " : " (") +
           (pairs.window ? "window " : "chunk ") +
           std::to_string(pairs.window ? pairs.window : pairs.chunk) + ")";
  return pairs.causal ? text + " (q*c - q*(q-1)/2)" : text;
}

/// Returns the text of a ratio: " x 0.93 (shape)"; "" for the ratio 1.
std::string NodeText::ratioText(NodeId id) const {
  // Six decimals are enough: the tables of ratios do not have more.
  constexpr double precision = 1e6;
  double ratio = std::round(step.real(id) * precision) / precision;
  return ratio == 1 ? "" : " x " + decimal(ratio) + " (shape)";
}

/// Returns the text of a roofline: "(tc^4 + tm^4)^(1/4)", with the values of tc
/// and tm.
std::string NodeText::roofText(const Node &node,
                               const std::string &ratio) const {
  double exponent = step.real(node.c);
  std::string q = decimal(exponent);
  std::string roof = exponent == 0 ? "max(tc, tm)"
                     : exponent == 1
                         ? "(tc + tm)"
                         : "(tc^" + q + " + tm^" + q + ")^(1/" + q + ")";
  // tc and tm are each a count times a time per unit.
  auto timeOf = [&](NodeId id, const char *unit) {
    const Node &time = graph[id];
    if (time.op != Op::multiply)
      return value(id) + " us";
    bool countsFirst = graph[time.a].isWhole;
    NodeId count = countsFirst ? time.a : time.b;
    NodeId each = countsFirst ? time.b : time.a;
    return value(count) + " " + unit + " x " + sizes(each, Bind::factor) +
           " us";
  };
  if (step.real(node.a) == 0)
    return timeOf(node.b, "B") + ratio;
  return roof + ratio + ", tc = " + timeOf(node.a, "FLOP") +
         ", tm = " + timeOf(node.b, "B");
}

/// Returns the text of the size on the most loaded device: "ceil(128 x 1.422223
/// (most loaded device))" for a mean of 128. The mean may itself be a share: "/
/// tp(8)".
std::string NodeText::mostLoadedText(const Node &node) const {
  std::string text = "ceil(" + sizes(node.a, Bind::product) + " x " +
                     decimal(step.real(node.b) / double(evenSkew)) +
                     " (most loaded device)";
  const Node &shared = graph[node.c];
  bool isShared = shared.op == Op::multiply && isAxes(shared.a);
  std::string axes = isShared ? axesText(shared.a) : "";
  return text + (axes.empty() ? "" : " / " + axes) + ")";
}

std::string NodeText::sizes(NodeId node) const {
  return sizes(node, Bind::sum);
}

std::string NodeText::sizes(NodeId id, Bind bind) const {
  const Node &node = graph[id];
  auto enclose = [&](Bind own, const std::string &text) {
    return bind > own ? "(" + text + ")" : text;
  };
  auto operand = [&](NodeId one, Bind how = Bind::sum) {
    return sizes(one, how);
  };
  NodeId extent = 0, block = 0;
  switch (node.op) {
  case Op::multiply:
    return enclose(Bind::product, factors(id));
  case Op::add:
    return enclose(Bind::sum, operand(node.a) + " + " + operand(node.b));
  case Op::subtract:
    return enclose(Bind::sum,
                   operand(node.a) + " - " + operand(node.b, Bind::product));
  case Op::divide:
    return enclose(Bind::product, operand(node.a, Bind::product) + " / " +
                                      operand(node.b, Bind::factor));
  case Op::split:
    return splitText(node.a, node.b, "");
  case Op::split_capped:
    return splitText(node.a, node.b, " cap");
  case Op::ceil_divide:
    if (!isAxes(node.b))
      return "ceil(" + operand(node.a) + " / " + operand(node.b, Bind::factor) +
             ")";
    if (isRounded(graph, graph[node.a], extent, block))
      return splitText(extent, node.b, (" pad " + value(block)).c_str());
    return splitText(node.a, node.b, " any");
  case Op::floor_divide:
    return "floor(" + operand(node.a) + " / " + operand(node.b, Bind::factor) +
           ")";
  case Op::scale:
    if (graph[node.b].op == Op::skew || graph[node.b].op == Op::peak_skew)
      return mostLoadedText(node);
    return "ceil(" + operand(node.a, Bind::product) + " x " +
           operand(node.b, Bind::product) + " / " +
           operand(node.c, Bind::factor) + ")";
  case Op::scale_down:
    return "floor(" + operand(node.a, Bind::product) + " x " +
           operand(node.b, Bind::product) + " / " +
           operand(node.c, Bind::factor) + ")";
  case Op::minimum:
    return "min(" + operand(node.a) + ", " + operand(node.b) + ")";
  case Op::select:
    return operand(step.whole(node.a) > 0 ? node.b : node.c, bind);
  case Op::busiest_rows:
    return value(id) + " (busiest of " + operand(node.b) + ", mean " +
           value(node.a) + ")";
  case Op::round_product:
    if (graph.isConstant(node.b, 1))
      return "round(" + operand(node.a) + ")";
    return "round(" + operand(node.a, Bind::product) + " x " +
           operand(node.b, Bind::product) + ")";
  case Op::distinct_experts: {
    std::string experts = operand(node.a, Bind::factor);
    return experts + "*(1-(1-" + operand(node.b) + "/" + experts + ")^(" +
           operand(node.c) + "))";
  }
  case Op::axis:
  case Op::stages:
    return isAxes(id) && !axesText(id).empty() ? axesText(id) : value(id);
  case Op::pairs:
    return enclose(Bind::product, pairsText(node, id));
  case Op::roof:
  case Op::launch:
    return roofText(node, "");
  case Op::shaped:
    return roofText(graph[node.a], ratioText(node.b));
  default:
    return value(id);
  }
}

//===----------------------------------------------------------------------===//
// Formulas as text
//===----------------------------------------------------------------------===//

std::string NodeText::leafName(NodeId node) const {
  const std::string &path = names.at(node);
  return path.substr(path.rfind('.') + 1);
}

std::string NodeText::formula(NodeId node, std::vector<NodeId> &used) const {
  return formula(node, Bind::sum, /*isRoot=*/true, used);
}

std::string NodeText::formula(NodeId id, Bind bind, bool isRoot,
                              std::vector<NodeId> &used) const {
  if (!isRoot && names.count(id)) {
    if (std::find(used.begin(), used.end(), id) == used.end())
      used.push_back(id);
    return leafName(id);
  }
  const Node &node = graph[id];
  auto operand = [&](NodeId one, Bind how = Bind::sum) {
    return formula(one, how, false, used);
  };
  auto enclose = [&](Bind own, const std::string &text) {
    return bind > own ? "(" + text + ")" : text;
  };
  auto call = [&](const char *function, const std::string &arguments) {
    return std::string(function) + "(" + arguments + ")";
  };
  switch (node.op) {
  case Op::add:
    return enclose(Bind::sum, operand(node.a) + " + " + operand(node.b));
  case Op::subtract:
    return enclose(Bind::sum,
                   operand(node.a) + " - " + operand(node.b, Bind::product));
  case Op::multiply:
    return enclose(Bind::product, operand(node.a, Bind::product) + " * " +
                                      operand(node.b, Bind::product));
  case Op::divide:
    return enclose(Bind::product, operand(node.a, Bind::product) + " / " +
                                      operand(node.b, Bind::factor));
  case Op::ceil_divide:
    return call("ceil", operand(node.a, Bind::product) + " / " +
                            operand(node.b, Bind::factor));
  case Op::floor_divide:
    return call("floor", operand(node.a, Bind::product) + " / " +
                             operand(node.b, Bind::factor));
  case Op::scale:
    return call("ceil", operand(node.a, Bind::product) + " * " +
                            operand(node.b, Bind::product) + " / " +
                            operand(node.c, Bind::factor));
  case Op::scale_down:
    return call("floor", operand(node.a, Bind::product) + " * " +
                             operand(node.b, Bind::product) + " / " +
                             operand(node.c, Bind::factor));
  case Op::floor:
    return call("floor", operand(node.a));
  case Op::maximum:
    return call("max", operand(node.a) + ", " + operand(node.b));
  case Op::minimum:
    return call("min", operand(node.a) + ", " + operand(node.b));
  case Op::above:
    return enclose(Bind::sum, operand(node.a, Bind::product) + " > " +
                                  operand(node.b, Bind::product));
  case Op::select:
    return formula(step.whole(node.a) > 0 ? node.b : node.c, bind, false, used);
  default:
    return value(id);
  }
}
