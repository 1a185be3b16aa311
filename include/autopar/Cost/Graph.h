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

/// The inputs that a value depends on, and so how often it is computed: once
/// per strategy, per machine and runtime, per sizes of axes, per sizes of
/// symbols, or per part of the program (numbers of layers and passes).
enum class Rank : uint8_t { constant, figure, layout, point, part };
inline constexpr size_t rankCount = static_cast<size_t>(Rank::part) + 1;

/// The operation of a node on its operands a, b, c. Each physical function is
/// one op, monotone in each operand unless it says otherwise.
enum class Op : uint8_t {
  // Leaves: `a` is an index.
  /// `a` is the low half of the value, `b` the high half.
  constant,
  /// Index into `Strategy::figures`.
  figure,
  /// Devices of an axis of the program; number of pipeline stages.
  axis,
  stages,
  /// Load of the most loaded device over the mean, in millionths, averaged over
  /// the layers of a kind with experts.
  skew,
  /// The same ratio in the layer of the kind where it is largest.
  peak_skew,
  /// Share of the routed tokens that the experts of a layer kind keep, in
  /// millionths, if loads are uneven.
  kept,
  /// Slots of placed experts, copies included, if their number depends on the
  /// layout.
  slots,
  /// How often a device runs a layer kind in a pass; how often a border of the
  /// stack enters and leaves a layer of that kind.
  kind_count,
  into_border,
  out_of_border,
  /// Bytes that a device sends per byte of a call over link `a`, in millionths,
  /// if tokens go to each node once; 0 for other calls.
  sent,
  /// A symbol of the program; passes of a step; microbatches that keep caches.
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
  /// Integer results, rounded up or down.
  ceil_divide,
  floor_divide,
  floor,
  /// a / b, where a requirement guarantees that b divides a.
  split,
  /// a / b, or 1 where b exceeds a: the result of a capped split.
  split_capped,
  /// ceil(a * b / c) and floor(a * b / c), exact for products above 2^53.
  scale,
  scale_down,
  /// 1 if a > b, else 0.
  above,
  /// b if a > 0, else c.
  select,
  // Physics.
  /// Number of (query, key) pairs of `a` queries over `b` keys; `c` is an index
  /// into `Graph::pairs`.
  pairs,
  /// Expected number of distinct experts, of `a`, that `c` tokens reach with
  /// `b` choices each.
  distinct_experts,
  /// Expected rows of the busiest of `b` ranks with a mean of `a` rows. `c` is
  /// the variance of the rows over that of independent rows.
  busiest_rows,
  /// Probability that a token chooses an expert of quarter `b` (0 to 3, most
  /// chosen first) over the mean, if choices follow Zipf's distribution with
  /// exponent `a`.
  quarter_share,
  /// The integer nearest to a * b.
  round_product,
  /// Time in us of a kernel with `a` of arithmetic and `b` of traffic, with the
  /// roofline exponent `c`.
  roof,
  /// The same in integer picoseconds.
  launch,
  /// log2(a), but linear between powers of two.
  octave,
  /// Time of a kernel of a shape over its roofline: entry `c` of
  /// `Leaves::shapes` at octaves `a` and `b`. Not monotone.
  shape_ratio,
  /// `a` picoseconds times a ratio, rounded to an integer.
  shaped,
  /// Microseconds, in integer picoseconds.
  picoseconds,
  /// One call over link `b` on `a` bytes, in integer picoseconds; the same at
  /// full bandwidth, in microseconds.
  call,
  call_bound,
  // Ops of tapes only.
  /// a + b * c, rounded twice.
  multiply_add,
  /// `launch` with `a` FLOPs and `b` bytes at rates `c`.
  launch_at_rates,
  /// The end of the tape.
  stop,
};

using NodeId = uint32_t;
inline constexpr NodeId noNode = ~NodeId(0);

struct Node {
  Op op = Op::constant;
  Rank rank = Rank::constant;
  /// Whether the value is an integer; whether it is positive for all inputs.
  bool isWhole = false, isPositive = false;
  uint32_t a = 0, b = 0, c = 0;
};

/// The number of operands a, b and c that are nodes.
unsigned operandsOf(Op op);

/// A graph of nodes, each after its operands.
class Graph {
public:
  Graph();

  NodeId constant(int64_t value);
  NodeId leaf(Op op, uint32_t index, Rank rank, bool isWhole, bool isPositive);
  /// Returns the node of this operation: folded, simplified, or an existing
  /// one.
  NodeId make(Op op, NodeId a, NodeId b = 0, uint32_t c = 0);
  /// Returns the index of `rule` for `Op::pairs`.
  uint32_t addPairs(const program::Pairs &rule);

  const Node &operator[](NodeId id) const { return nodes[id]; }
  size_t size() const { return nodes.size(); }
  /// The value of a constant node.
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
  /// Hash table with open addressing: node + 1, or 0 if empty.
  std::vector<uint32_t> table;
};

/// A node of a graph, as an operand for writing formulas.
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
