//===- Graph.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Graph.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

unsigned autopar::cost::operandsOf(Op op) {
  if (op < Op::add || op == Op::stop)
    return 0;
  switch (op) {
  case Op::floor:
  case Op::octave:
  case Op::picoseconds:
  case Op::quarter_share:
  case Op::call:
  case Op::call_bound:
    return 1;
  case Op::scale:
  case Op::scale_down:
  case Op::select:
  case Op::distinct_experts:
  case Op::busiest_rows:
  case Op::roof:
  case Op::launch:
  case Op::multiply_add:
    return 3;
  default:
    return 2;
  }
}

/// Returns whether the result of an op is an integer if those of its operands
/// that count something are integers.
static bool isWholeResult(Op op, const Node &a, const Node &b, const Node &c) {
  switch (op) {
  case Op::divide:
  case Op::distinct_experts:
  case Op::busiest_rows:
  case Op::quarter_share:
  case Op::roof:
  case Op::octave:
  case Op::shape_ratio:
  case Op::call_bound:
    return false;
  case Op::add:
  case Op::subtract:
  case Op::multiply:
  case Op::minimum:
  case Op::maximum:
    return a.isWhole && b.isWhole;
  case Op::select:
    return b.isWhole && c.isWhole;
  default:
    return true;
  }
}

static bool isPositiveResult(Op op, const Node &a, const Node &b,
                             const Node &c) {
  switch (op) {
  case Op::add:
  case Op::maximum:
    return a.isPositive || b.isPositive;
  case Op::multiply:
  case Op::minimum:
  case Op::divide:
    return a.isPositive && b.isPositive;
  case Op::ceil_divide:
  case Op::split:
  case Op::split_capped:
    return a.isPositive;
  case Op::scale:
    return a.isPositive && b.isPositive;
  case Op::select:
    return b.isPositive && c.isPositive;
  default:
    return false;
  }
}

/// The initial capacity of a graph, in nodes: enough for most programs.
static constexpr size_t initialNodes = 4096;

Graph::Graph() : table(2 * initialNodes) {
  nodes.reserve(initialNodes);
  constant(0);
}

NodeId Graph::constant(int64_t value) {
  auto bits = static_cast<uint64_t>(value);
  return insert({Op::constant, Rank::constant, true, value > 0,
                 static_cast<uint32_t>(bits),
                 static_cast<uint32_t>(bits >> 32)});
}

NodeId Graph::leaf(Op op, uint32_t index, Rank rank, bool isWhole,
                   bool isPositive) {
  return insert({op, rank, isWhole, isPositive, index});
}

uint32_t Graph::addPairs(const Pairs &rule) {
  for (uint32_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].causal == rule.causal && pairs[i].window == rule.window &&
        pairs[i].chunk == rule.chunk)
      return i;
  pairs.push_back({{}, {}, rule.causal, rule.window, rule.chunk});
  return static_cast<uint32_t>(pairs.size() - 1);
}

/// Evaluates a comparison, a minimum or a maximum of two constants. Sums and
/// products of constants are not evaluated: derivations print them as written,
/// and a `Tape` collects the sums into linear forms.
NodeId Graph::fold(Op op, NodeId a, NodeId b) {
  if (nodes[a].op != Op::constant || nodes[b].op != Op::constant)
    return noNode;
  int64_t x = valueOf(nodes[a]), y = valueOf(nodes[b]);
  if (op == Op::above)
    return constant(x > y);
  return constant(op == Op::minimum ? std::min(x, y) : std::max(x, y));
}

/// Simplifies an operation on 0, on 1, on equal operands or on two constants.
/// Returns `noNode` if there is nothing to simplify.
NodeId Graph::simplify(Op op, NodeId a, NodeId b) {
  switch (op) {
  case Op::add:
    return isConstant(a, 0) ? b : isConstant(b, 0) ? a : noNode;
  case Op::subtract:
    return isConstant(b, 0) ? a : noNode;
  case Op::multiply:
    if (isConstant(a, 0) || isConstant(b, 1))
      return a;
    return isConstant(b, 0) || isConstant(a, 1) ? b : noNode;
  case Op::ceil_divide:
  case Op::floor_divide:
  case Op::split:
    return isConstant(b, 1) || isConstant(a, 0) ? a : noNode;
  case Op::minimum:
  case Op::maximum:
    return a == b ? a : fold(op, a, b);
  case Op::floor:
    return nodes[a].isWhole ? a : noNode;
  case Op::above:
    return isConstant(b, 0) && nodes[a].isPositive ? constant(1)
                                                   : fold(op, a, b);
  default:
    return noNode;
  }
}

/// Returns whether operand `b` of the op is an index, not a node.
static bool hasIndex(Op op) {
  return op == Op::call || op == Op::call_bound || op == Op::quarter_share;
}

NodeId Graph::make(Op op, NodeId a, NodeId b, uint32_t c) {
  unsigned operands = operandsOf(op);
  if (NodeId known = simplify(op, a, b); known != noNode)
    return known;
  if (op == Op::select) {
    if (nodes[a].isPositive || b == c)
      return b;
    if (isConstant(a, 0))
      return c;
  }
  if (op == Op::scale && c == b)
    return a;
  if (operands == 1 && !hasIndex(op))
    b = 0;
  const Node &first = nodes[a], &second = nodes[operands > 1 ? b : a],
             &third = nodes[operands > 2 ? c : a];
  Node node{op,
            std::max({first.rank, second.rank, third.rank}),
            isWholeResult(op, first, second, third),
            isPositiveResult(op, first, second, third),
            a,
            b,
            c};
  // Links are resolved for each layout; the tables of shapes are resolved after
  // the values that select them.
  if (op == Op::call || op == Op::call_bound)
    node.rank = std::max(node.rank, Rank::layout);
  if (op == Op::shape_ratio)
    node.rank = std::max(node.rank, Rank::point);
  return insert(node);
}

static bool commutes(Op op) {
  return op == Op::add || op == Op::multiply || op == Op::minimum ||
         op == Op::maximum;
}

/// Returns whether both nodes are the same expression. Of two expressions that
/// differ only in the order of operands, the first written one is kept, for
/// people who read the derivation.
static bool isSame(const Node &x, const Node &y) {
  if (x.op != y.op || x.c != y.c)
    return false;
  return (x.a == y.a && x.b == y.b) ||
         (commutes(x.op) && x.a == y.b && x.b == y.a);
}

static uint64_t hashOf(const Node &node) {
  bool swaps = commutes(node.op) && node.a > node.b;
  uint64_t first = swaps ? node.b : node.a, second = swaps ? node.a : node.b;
  uint64_t hash = (first << 32 | second) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 32;
  hash += uint64_t(node.c) << 8 | static_cast<uint8_t>(node.op);
  hash *= 0xD6E8FEB86659FD93u;
  return hash ^ hash >> 32;
}

NodeId Graph::insert(Node node) {
  if (nodes.size() * 2 >= table.size())
    grow();
  size_t mask = table.size() - 1;
  size_t at = hashOf(node) & mask;
  for (; table[at] != 0; at = (at + 1) & mask)
    if (isSame(nodes[table[at] - 1], node))
      return table[at] - 1;
  nodes.push_back(node);
  table[at] = static_cast<uint32_t>(nodes.size());
  return static_cast<NodeId>(nodes.size() - 1);
}

void Graph::grow() {
  table.assign(table.size() * 2, 0);
  size_t mask = table.size() - 1;
  for (size_t i = 0; i < nodes.size(); ++i) {
    size_t at = hashOf(nodes[i]) & mask;
    while (table[at] != 0)
      at = (at + 1) & mask;
    table[at] = static_cast<uint32_t>(i + 1);
  }
}
