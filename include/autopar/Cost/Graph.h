//===- Graph.h - Formulas as data -------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A formula is C++ over `Expr`. It runs once, and leaves a graph without
// cycles, in which equal expressions are one node. Everything that needs the
// formula reads the graph: prices in doubles and lanes, exact counts, bounds,
// derivatives, derivations.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_GRAPH_H
#define AUTOPAR_COST_GRAPH_H

#include "autopar/Program/CostProgram.h"

#include <cstdint>
#include <vector>

namespace autopar::cost {

/// What a value depends on, and so when it is computed: once for a strategy,
/// for a machine and a runtime, for the sizes of axes, for the sizes of
/// symbols, for how many layers and passes a part of the program has.
enum class Rank : uint8_t { constant, figure, layout, point, part };
inline constexpr size_t rankCount = static_cast<size_t>(Rank::part) + 1;

/// What a node computes of its operands a, b, c. One physical function is one
/// op, monotone in each operand unless it says otherwise.
enum class Op : uint8_t {
  // Leaves: `a` is an index.
  /// The low half of its value and, in `b`, the high one.
  constant,
  /// Of `Strategy::figures`.
  figure,
  /// Devices of an axis of the program; of pipeline stages.
  axis,
  stages,
  /// Hottest device over the mean, in millionths, of experts of a layer kind.
  skew,
  /// The same of the layer of the kind where it is largest.
  peak_skew,
  /// What experts of a layer kind keep of the tokens that are routed to them,
  /// in millionths, where loads are uneven.
  kept,
  /// Of placed experts that follow the layout, copies included.
  slots,
  /// How often a device runs a layer kind in a pass; how often a border of the
  /// stack leads to a layer of it, and from one.
  kind_count,
  into_border,
  out_of_border,
  /// What a device sends of each byte of a call over link `a`, in millionths,
  /// where tokens go to each node once; 0 where it is as of any other call.
  sent,
  /// Of the program's symbols; passes of a step; microbatches that keep caches.
  symbol,
  passes,
  microbatches,
  // Arithmetic.
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  /// Whole numbers, rounded up or down.
  ceil_divide,
  floor_divide,
  floor,
  /// a / b, where a requirement says that b divides a.
  split,
  /// a / b, or 1 where b is above a: what a capped split leaves.
  split_capped,
  /// ceil(a * b / c) and floor(a * b / c), products that may be above 2^53.
  scale,
  scale_down,
  /// 1 where a > b, else 0.
  above,
  /// b where a > 0, else c.
  select,
  // Physics.
  /// (query, key) pairs of `a` queries over `b` keys; `c`: `Graph::pairs`.
  pairs,
  /// Expected distinct experts of `a` that `c` tokens reach, `b` each.
  distinct_experts,
  /// Expected rows of the busiest of `b` ranks that have `a` in the mean, where
  /// rows that fall by chance vary `c` times as much as independent ones.
  busiest_rows,
  /// How often tokens choose an expert of quarter `b`, 0 to 3 from the most
  /// chosen, over the mean, where choices follow Zipf's law of exponent `a`.
  quarter_share,
  /// The nearest whole number to a * b.
  round_product,
  /// Microseconds of a kernel with `a` of arithmetic and `b` of traffic, whose
  /// exponent is `c`.
  roof,
  /// The same in whole picoseconds.
  launch,
  /// log2(a), but straight between powers of two.
  octave,
  /// What a kernel of a shape takes over its roofline: entry `c` of
  /// `Leaves::shapes` at octaves `a` and `b`. Not monotone.
  shape_ratio,
  /// Picoseconds `a` times a ratio, in whole ones.
  shaped,
  /// Microseconds in whole picoseconds.
  picoseconds,
  /// One call over link `b` on `a` bytes, in whole picoseconds; at full
  /// bandwidth, in microseconds.
  call,
  call_bound,
  // Of tapes alone.
  /// a + b * c, with two roundings.
  multiply_add,
  /// `launch` of `a` FLOPs and `b` bytes at rates `c`.
  launch_at_rates,
  /// The end.
  stop,
};

using NodeId = uint32_t;
inline constexpr NodeId noNode = ~NodeId(0);

struct Node {
  Op op = Op::constant;
  Rank rank = Rank::constant;
  /// Whether it is a whole number; whether it is above 0 whatever the inputs.
  bool isWhole = false, isPositive = false;
  uint32_t a = 0, b = 0, c = 0;
};

/// How many of a, b and c are nodes.
unsigned operandsOf(Op op);

/// Nodes in an order in which operands come first.
class Graph {
public:
  Graph();

  NodeId constant(int64_t value);
  NodeId leaf(Op op, uint32_t index, Rank rank, bool isWhole, bool isPositive);
  /// The node of this operation: folded, simplified, or one that there is.
  NodeId make(Op op, NodeId a, NodeId b = 0, uint32_t c = 0);
  /// Index for `Op::pairs`.
  uint32_t addPairs(const program::Pairs &rule);

  const Node &operator[](NodeId id) const { return nodes[id]; }
  size_t size() const { return nodes.size(); }
  /// The value of a constant.
  static int64_t valueOf(const Node &node) {
    return static_cast<int64_t>(uint64_t(node.b) << 32 | node.a);
  }
  bool isConstant(NodeId id, int64_t value) const {
    const Node &node = nodes[id];
    return node.op == Op::constant && valueOf(node) == value;
  }
  size_t pairsCount() const { return pairs.size(); }
  const program::Pairs &pairsOf(uint32_t index) const { return pairs[index]; }

private:
  NodeId insert(Node node);
  NodeId simplify(Op op, NodeId a, NodeId b);
  NodeId fold(Op op, NodeId a, NodeId b);
  void grow();

  std::vector<Node> nodes;
  std::vector<program::Pairs> pairs;
  /// Open addressing: node + 1, or 0.
  std::vector<uint32_t> table;
};

/// A node of a graph, to write formulas with.
class Expr {
public:
  Expr() = default;
  Expr(Graph &graph, NodeId id) : graph(&graph), id(id) {}

  NodeId node() const { return id; }
  bool isPositive() const { return (*graph)[id].isPositive; }
  bool isConstant(int64_t value) const { return graph->isConstant(id, value); }

  Expr apply(Op op, Expr b) const {
    return {*graph, graph->make(op, id, b.id)};
  }
  Expr apply(Op op, Expr b, Expr c) const {
    return {*graph, graph->make(op, id, b.id, c.id)};
  }
  Expr apply(Op op, Expr b, uint32_t c) const {
    return {*graph, graph->make(op, id, b.id, c)};
  }
  Expr number(int64_t value) const { return {*graph, graph->constant(value)}; }

  friend Expr operator+(Expr a, Expr b) { return a.apply(Op::add, b); }
  friend Expr operator-(Expr a, Expr b) { return a.apply(Op::subtract, b); }
  friend Expr operator*(Expr a, Expr b) { return a.apply(Op::multiply, b); }
  friend Expr operator/(Expr a, Expr b) { return a.apply(Op::divide, b); }
  friend Expr operator*(Expr a, int64_t b) { return a * a.number(b); }
  Expr &operator+=(Expr b) { return *this = *this + b; }
  Expr &operator*=(Expr b) { return *this = *this * b; }

private:
  Graph *graph = nullptr;
  NodeId id = noNode;
};

inline Expr min(Expr a, Expr b) { return a.apply(Op::minimum, b); }
inline Expr max(Expr a, Expr b) { return a.apply(Op::maximum, b); }
inline Expr ceilDiv(Expr a, Expr b) { return a.apply(Op::ceil_divide, b); }
inline Expr floorDiv(Expr a, Expr b) { return a.apply(Op::floor_divide, b); }
inline Expr floor(Expr a) { return a.apply(Op::floor, a); }
inline Expr octave(Expr a) { return a.apply(Op::octave, a); }
inline Expr roundUp(Expr a, Expr b) { return ceilDiv(a, b) * b; }
inline Expr above(Expr a, Expr b) { return a.apply(Op::above, b); }
inline Expr select(Expr a, Expr b, Expr c) { return a.apply(Op::select, b, c); }

} // namespace autopar::cost

#endif // AUTOPAR_COST_GRAPH_H
