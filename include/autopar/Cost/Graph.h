//===- Graph.h - Formulas as data -------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A formula is C++ over `Expr`. It runs once and leaves a directed acyclic
// graph, in which equal expressions are one node. All uses of the formula read
// the graph: prices in doubles and lanes, exact counts, bounds, derivatives,
// derivations.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_GRAPH_H
#define AUTOPAR_COST_GRAPH_H

#include "autopar/Program/CostProgram.h"

#include <cstdint>
#include <vector>

namespace autopar::cost {

/// The inputs on which a node's value depends, which decide how often it is
/// computed: once per strategy (constant), per machine and runtime (figure),
/// per sizes of mesh axes (layout), per sizes of the workload (point), or per
/// part of a pipeline stage (part).
enum class Rank : uint8_t { constant, figure, layout, point, part };
inline constexpr size_t rankCount = static_cast<size_t>(Rank::part) + 1;

/// The operation of a node with the operands a, b, c. Each op is one physical
/// function and is monotone in each operand, unless its comment says otherwise.
enum class Op : uint8_t {
  // Leaves, in which `a` is an index. In a constant, `a` is the low half and
  // `b` the high half of the value.
  /// `a` is the low half of the value, `b` the high half.
  constant,
  /// A number of the chip or runtime; `a` is its index in `Strategy::figures`.
  figure,
  /// `axis`: number of devices along an axis of the program. `stages`: number
  /// of pipeline stages.
  axis,
  stages,
  /// Load of the most loaded device over the mean load, in millionths, averaged
  /// over the layers of one kind with experts.
  skew,
  /// Load of the most loaded device over the mean load, in millionths, in the
  /// layer of the kind where this ratio is largest.
  peak_skew,
  /// Share of the routed tokens that the experts of a layer kind keep, in
  /// millionths. Only used if loads are uneven.
  kept,
  /// Number of slots of placed experts, copies included. Only used if it
  /// depends on the layout.
  slots,
  /// `kind_count`: how often a device runs the layers of a kind in one pass.
  /// `into_border`, `out_of_border`: how often a border between two layers
  /// leads into, or out of, a layer of that kind.
  kind_count,
  into_border,
  out_of_border,
  /// Bytes that a device sends per byte of a call over link `a`, in millionths,
  /// if a token is sent once to each node; 0 for other calls.
  sent,
  /// `symbol`: a size of the workload. `passes`: number of passes of a step.
  /// `microbatches`: number of microbatches that keep KV caches.
  symbol,
  passes,
  microbatches,
  // Ops that compute `a` and `b` by plain arithmetic.
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  /// Divisions and roundings with an integer result, rounded up or down.
  ceil_divide,
  floor_divide,
  floor,
  /// a / b, exact because a requirement of the strategy makes b divide a.
  split,
  /// a / b, but 1 where b exceeds a: extent per device of a dimension that
  /// cannot be split into more parts than it has elements.
  split_capped,
  /// ceil(a * b / c) and floor(a * b / c), exact for products above 2^53.
  scale,
  scale_down,
  /// 1 if a > b, else 0.
  above,
  /// b if a > 0, else c.
  select,
  // Physical functions. `pairs`: number of (query, key) pairs of `a` queries
  // and `b` keys; `c` is an index into `Graph::pairs`.
  /// Number of (query, key) pairs of `a` queries over `b` keys; `c` is an index
  /// into `Graph::pairs`.
  pairs,
  /// Expected number of distinct experts, out of `a`, that `c` tokens choose
  /// when each chooses `b`.
  distinct_experts,
  /// Expected number of rows on the busiest of `b` ranks, if the mean is `a`
  /// rows. `c` is the variance of the rows over that of independent rows.
  busiest_rows,
  /// Probability that a token chooses an expert of quarter `b` over the mean
  /// probability, if choices follow Zipf's distribution with exponent `a`.
  /// Quarter 0 has the most chosen experts, quarter 3 the least chosen.
  quarter_share,
  /// The integer nearest to a * b.
  round_product,
  /// Roofline time, in us, of a kernel with `a` us of arithmetic and `b` us of
  /// memory traffic; `c` is the roofline exponent.
  roof,
  /// Roofline time like `roof`, but in ps and rounded to an integer.
  launch,
  /// log2(a) at powers of two, and linear between them.
  octave,
  /// Measured time of a kernel of some shape over its roofline time:
  /// interpolated in the table `c` of `Leaves::shapes` at the octaves `a` and
  /// `b`. Not monotone.
  shape_ratio,
  /// `a` ps times the ratio `b`, rounded to an integer number of ps.
  shaped,
  /// Converts `a` us to an integer number of ps.
  picoseconds,
  /// `call`: time of one collective call with `a` bytes over link `b`, in
  /// integer ps. `call_bound`: the least time of that call, at full bandwidth,
  /// in us.
  call,
  call_bound,
  // The remaining ops occur in tapes only. `multiply_add`: a + b * c with two
  // roundings.
  /// a + b * c, rounded twice.
  multiply_add,
  /// `launch` of a kernel with `a` FLOPs and `b` bytes, at the rates with index
  /// `c` in `Tape::rates`.
  launch_at_rates,
  /// Ends a section of a tape; it computes nothing.
  stop,
};

using NodeId = uint32_t;
inline constexpr NodeId noNode = ~NodeId(0);

struct Node {
  Op op = Op::constant;
  Rank rank = Rank::constant;
  /// Whether the value is an integer, and whether it is positive whatever the
  /// inputs are.
  bool isWhole = false, isPositive = false;
  uint32_t a = 0, b = 0, c = 0;
};

/// Returns how many of the operands a, b and c of `op` are nodes (0 to 3).
unsigned operandsOf(Op op);

/// A graph of operations in which each node comes after its operands.
class Graph {
public:
  Graph();

  NodeId constant(int64_t value);
  NodeId leaf(Op op, uint32_t index, Rank rank, bool isWhole, bool isPositive);
  /// Returns the node for an operation. The operation may be folded or
  /// simplified; equal operations share one node.
  NodeId make(Op op, NodeId a, NodeId b = 0, uint32_t c = 0);
  /// Adds the counting rule `rule` and returns its index, the operand `c` of an
  /// `Op::pairs` node.
  uint32_t addPairs(const program::Pairs &rule);

  const Node &operator[](NodeId id) const { return nodes[id]; }
  size_t size() const { return nodes.size(); }
  /// Returns the number of a constant node.
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
  /// Hash table with open addressing, by which equal operations find their
  /// node: an entry is the node's index + 1, or 0 if empty.
  std::vector<uint32_t> table;
};

/// A node of a graph with the C++ operators, so that formulas can be written as
/// such.
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
