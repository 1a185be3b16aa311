//===- NodeFormulas.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeCells.h"

#include "NodeWords.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::spreadsheet;

static const Formula million("1000000");

const char *autopar::spreadsheet::wordOf(Op op) {
  switch (op) {
  case Op::add:
  case Op::subtract:
    return "sum";
  case Op::multiply:
    return "product";
  case Op::divide:
    return "quotient";
  case Op::minimum:
    return "smallest";
  case Op::maximum:
    return "largest";
  case Op::ceil_divide:
  case Op::floor_divide:
  case Op::floor:
    return "rounded quotient";
  case Op::split:
  case Op::split_capped:
    return "split over devices";
  case Op::scale:
  case Op::scale_down:
    return "scaled and rounded";
  case Op::above:
    return "1 where above";
  case Op::select:
    return "one of two";
  case Op::pairs:
    return "pairs of queries and keys";
  case Op::distinct_experts:
    return "distinct experts reached";
  case Op::busiest_rows:
    return "expected rows of the busiest rank";
  case Op::quarter_share:
    return "share of a quarter of experts";
  case Op::round_product:
    return "rounded product";
  case Op::roof:
    return "time under the roofline, us";
  case Op::launch:
    return "time of a launch, ps";
  case Op::octave:
    return "log2, straight between powers of two";
  case Op::shape_ratio:
    return "ratio of the shape";
  case Op::shaped:
    return "time of a launch of this shape, ps";
  case Op::picoseconds:
    return "ps";
  case Op::call:
    return "time of a call, ps";
  case Op::call_bound:
    return "time of a call at full bandwidth, us";
  default:
    return "value";
  }
}

//===----------------------------------------------------------------------===//
// Formulas of arithmetic
//===----------------------------------------------------------------------===//

/// Returns the condition of a node: "x > y" if the node is 1 for x > y and else
/// 0; "x > 0" for any other node x.
Formula NodeCells::conditionOf(NodeId id) const {
  const Node &node = graph[id];
  if (node.op == Op::above)
    return formulas[node.a] > formulas[node.b];
  return formulas[id] > Formula(0);
}

Formula NodeCells::arithmetic(const Node &node, const Formula &a) const {
  auto b = [&] { return formulas[node.b]; };
  auto c = [&] { return formulas[node.c]; };
  switch (node.op) {
  case Op::add:
    return a + b();
  case Op::subtract:
    return a - b();
  case Op::multiply:
    return a * b();
  case Op::divide:
  case Op::split:
    return a / b();
  case Op::minimum:
    return least(a, b());
  case Op::maximum:
    return most(a, b());
  case Op::ceil_divide:
    return atLeast(a / b());
  case Op::floor_divide:
    return below(a / b());
  case Op::floor:
    return below(a);
  case Op::split_capped:
    return choose(b() > a, least(a, 1), a / b());
  case Op::scale:
    return atLeast(a * b() / c());
  case Op::scale_down:
    return below(a * b() / c());
  case Op::above:
    return choose(a > b(), 1, 0);
  case Op::select:
    return choose(conditionOf(node.a), b(), c());
  case Op::round_product:
    // The number 1 + 4e-15 is written as a sum, because literals have only 15
    // digits.
    return below(a * b() * (Formula(1) + "4E-15") + "0.5");
  case Op::shaped:
    return rounded(a * b());
  case Op::picoseconds:
    return rounded(a * million);
  default:
    return a;
  }
}

//===----------------------------------------------------------------------===//
// Physics: the formulas of lib/Cost/Run.h and lib/Cost/Numbers.h
//===----------------------------------------------------------------------===//

/// Returns first + (first+1) + ... + last.
static Formula sumRange(const Formula &first, const Formula &last) {
  return (last - first + 1) * (first + last) / 2;
}

/// Returns how many keys the first `tokens` tokens of a sequence see in their
/// chunks, summed over these tokens.
static Formula sumOfChunks(const Formula &tokens, int64_t chunk) {
  Formula whole = below(tokens / chunk);
  Formula rest = tokens - whole * chunk;
  return whole * (chunk * (chunk + 1) / 2) + rest * (rest + 1) / 2;
}

/// Returns 0 + 1 + ... over the first `tokens` integers, each limited to
/// `most`.
static Formula sumUpTo(const Formula &tokens, int64_t most) {
  Formula growing = least(tokens, most + 1);
  return growing * (growing - 1) / 2 + (tokens - growing) * most;
}

Formula NodeCells::pairs(const Node &node) const {
  const Pairs &rule = graph.pairsOf(node.c);
  const Formula &query = formulas[node.a], &context = formulas[node.b];
  if (rule.chunk != 0 && rule.causal)
    return sumOfChunks(context, rule.chunk) -
           sumOfChunks(context - query, rule.chunk);
  if (rule.chunk != 0) {
    Formula last = context - below(context / rule.chunk) * rule.chunk;
    Formula inLast = least(query, last);
    return inLast * last + (query - inLast) * rule.chunk;
  }
  if (!rule.causal && rule.window != 0) {
    Formula seeing = least(query, context);
    int64_t side = rule.window / 2;
    return seeing + sumUpTo(seeing, side) + sumUpTo(context, side) -
           sumUpTo(context - seeing, side);
  }
  if (!rule.causal)
    return query * context;
  Formula limit = rule.window != 0 ? least(context, rule.window) : context;
  Formula first = most(context - query + 1, 1);
  Formula growing =
      sumRange(first, most(limit, first - 1)) + (context - limit) * limit;
  return choose(limit > context - query + 1, growing, query * limit);
}

Formula NodeCells::distinctExperts(const Node &node) const {
  const Formula &experts = formulas[node.a], &each = formulas[node.b],
                &tokens = formulas[node.c];
  // Some programs report an error for powers that become 0.
  Formula logOfRest =
      most(tokens * call("LN", Formula(1) - each / experts), -700);
  Formula reached = experts * (Formula(1) - call("EXP", logOfRest));
  Formula some = choose(experts > each, reached, experts);
  return choose(tokens > 0, some, 0);
}

Formula NodeCells::busiestRows(const Node &node) const {
  const Formula &mean = formulas[node.a], &ranks = formulas[node.b],
                &dispersion = formulas[node.c];
  Formula octaves = call("LOG", ranks, 2);
  Formula deviate =
      octaves * call("SQRT", Formula("0.411") /
                                 (Formula(1) + Formula("0.285") * octaves));
  Formula spread =
      call("SQRT", most(dispersion, 0) / most(mean, Formula("1E-9")));
  Formula grown = Formula(1) + Formula(2) / 3 * deviate * spread;
  Formula rows =
      mean * power(grown, Formula("1.5")) - least(octaves / 18, Formula(1) / 6);
  return choose(ranks > 1, most(rows, most(mean, least(mean * ranks, 1))),
                mean);
}

/// Returns max(a, b), rounded off by the exponent; the exponent 0 means that
/// nothing is rounded off.
Formula NodeCells::roof(const Node &node) const {
  const Formula &a = formulas[node.a], &b = formulas[node.b],
                &exponent = formulas[node.c];
  if (graph.isConstant(node.a, 0))
    return b;
  Formula high = most(a, b);
  // A smaller ratio adds nothing, and its power would underflow.
  Formula ratio =
      most(least(a, b) / most(high, Formula("1E-300")), Formula("1E-50"));
  Formula smooth =
      high * power(Formula(1) + power(ratio, exponent), Formula(1) / exponent);
  return choose(exponent > 0, smooth, high);
}

/// Returns 4^s ((i+1)^(1-s) - i^(1-s)) for quarter i.
Formula NodeCells::quarterShare(const Node &node) const {
  const Formula &s = formulas[node.a];
  auto quarter = static_cast<int64_t>(node.b);
  Formula upTo = power(quarter + 1, Formula(1) - s);
  if (quarter == 0)
    return power(4, s) * upTo;
  return power(4, s) * (upTo - power(quarter, Formula(1) - s));
}

//===----------------------------------------------------------------------===//
// Formulas that look up tables
//===----------------------------------------------------------------------===//

static Formula lookUp(const std::string &range, const Formula &row) {
  return call("INDEX", range, row);
}

/// Interpolates linearly between entry `index` of a column and the next entry.
static Formula between(const std::string &range, const Formula &place,
                       int64_t last) {
  Formula index = least(below(place), last);
  Formula low = lookUp(range, index + 1), high = lookUp(range, index + 2);
  return low + (place - index) * (high - low);
}

Formula NodeCells::shapeRatio(const Node &node) {
  const GridCells &grid = shapes.grid(node.c);
  if (grid.ratios.empty())
    return 1;
  auto placeOn = [&](const ShapeGrid::Side &side, NodeId octave) {
    double first = side.first, length = double(side.last) - first;
    double at = std::min(std::max(value(octave) - first, 0.0), length);
    return helper(
        "place in a table of shapes",
        least(most(formulas[octave] - Formula(int64_t(side.first)), 0),
              int64_t(side.last) - side.first),
        at);
  };
  Formula x = placeOn(grid.x, node.a);
  int64_t lastX = std::max<int64_t>(0, grid.x.last - grid.x.first - 1);
  if (grid.y.size() == 1)
    return between(grid.ratios, x, lastX);
  Formula y = placeOn(grid.y, node.b);
  Formula row = least(below(x), lastX);
  Formula column = least(below(y), int64_t(grid.y.last) - grid.y.first - 1);
  auto entry = [&](const Formula &row, const Formula &column) {
    return call("INDEX", grid.ratios, row, column);
  };
  auto along = [&](const Formula &row) {
    Formula low = entry(row, column + 1), high = entry(row, column + 2);
    return low + (y - column) * (high - low);
  };
  Formula low = along(row + 1), high = along(row + 2);
  return low + (x - row) * (high - low);
}

Formula NodeCells::levelTime(const LevelCells &level, const Formula &bytes,
                             const Formula &log2Bytes, double log2Value) {
  Formula byChoice = 0;
  for (const auto &[latencyUs, usPerByte] : level.choices) {
    Formula time = Formula(latencyUs) + bytes * Formula(usPerByte);
    bool isFirst = latencyUs == level.choices.front().first;
    byChoice = isFirst ? time : least(byChoice, time);
  }
  if (level.knots.empty())
    return byChoice;
  double at = std::max(log2Value - level.firstLog2, 0.0);
  Formula place = helper("place on a curve of a link",
                         most(log2Bytes - exactly(level.firstLog2), 0), at);
  return power(2, between(level.knots, place, level.last));
}

Formula NodeCells::routeTime(const Node &node, bool atFullBandwidth) {
  const std::vector<LevelCells> &levels = links.levels(node.b);
  bool overlaps = step.values.route(node.b).overlaps;
  const Formula &bytes = formulas[node.a];
  double log2Value = std::log2(std::max(value(node.a), 1.0));
  bool hasCurve =
      std::any_of(levels.begin(), levels.end(),
                  [](const LevelCells &one) { return !one.knots.empty(); });
  Formula log2Bytes;
  if (hasCurve)
    log2Bytes =
        helper("log2 of bytes", call("LOG", most(bytes, 1), 2), log2Value);
  Formula total = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    Formula time = levelTime(levels[i], bytes, log2Bytes, log2Value);
    if (atFullBandwidth)
      time = least(bytes * Formula(levels[i].boundUsPerByte), time);
    if (i == 0)
      total = time;
    else
      total = overlaps ? most(total, time) : total + time;
  }
  return total;
}

Formula NodeCells::formulaOf(NodeId id) {
  const Node &node = graph[id];
  if (node.op == Op::constant)
    return Graph::valueOf(node);
  if (operandsOf(node.op) == 0)
    return ownInputs.leaf(id);
  const Formula &a = formulas[node.a];
  switch (node.op) {
  case Op::pairs:
    return pairs(node);
  case Op::distinct_experts:
    return distinctExperts(node);
  case Op::busiest_rows:
    return busiestRows(node);
  case Op::quarter_share:
    return quarterShare(node);
  case Op::roof:
    return roof(node);
  case Op::launch:
    return rounded(roof(node) * million);
  case Op::octave: {
    // Tables clip the logarithm of 0 rows to their first knot.
    if (graph.isConstant(node.a, 0))
      return -1023;
    Formula whole = below(call("LOG", a, 2));
    return choose(a > 0, whole + (a / power(2, whole) - 1), -1023);
  }
  case Op::shape_ratio:
    return shapeRatio(node);
  case Op::call:
    return rounded(routeTime(node, step.values.route(node.b).ideal) * million);
  case Op::call_bound:
    return routeTime(node, true);
  default:
    return arithmetic(node, a);
  }
}
