//===- NodeCells.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeCells.h"

#include "NodeWords.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::spreadsheet;

/// A longer or deeper formula is divided into several cells, so that people can
/// read it. Excel allows 8192 characters and 64 nested functions.
static constexpr size_t maxLength = 1500;
static constexpr unsigned maxDepth = 12;

NodeCells::NodeCells(const PricedStep &step)
    : step(step), graph(step.strategy.graph), ownInputs(step),
      links(step, ownInputs), shapes(step), nodes{"Nodes", {36, 24, 120}},
      formulas(graph.size()), uses(graph.size()), isRepeated(graph.size()) {
  nodes.title("Nodes: what several formulas share, and parts of long ones");
  nodes.header({"what", "value"});
}

//===----------------------------------------------------------------------===//
// Deciding which nodes have cells
//===----------------------------------------------------------------------===//

/// Returns whether the formula of `op` contains an operand more than once.
static bool repeats(Op op) {
  switch (op) {
  case Op::split_capped:
  case Op::pairs:
  case Op::distinct_experts:
  case Op::busiest_rows:
  case Op::roof:
  case Op::launch:
  case Op::octave:
  case Op::shape_ratio:
  case Op::quarter_share:
  case Op::call:
  case Op::call_bound:
    return true;
  default:
    return false;
  }
}

static std::vector<NodeId> operands(const Node &node) {
  std::vector<NodeId> all = {node.a, node.b, node.c};
  all.resize(operandsOf(node.op));
  return all;
}

void NodeCells::findReached(const Book &book) {
  for (const Sheet &sheet : book.sheets)
    for (const auto &row : sheet.rows)
      for (const Cell &cell : row)
        if (cell.node != noNode)
          ++uses[cell.node];
  for (NodeId id = graph.size(); id-- > 0;) {
    if (uses[id] == 0)
      continue;
    for (NodeId operand : operands(graph[id])) {
      ++uses[operand];
      isRepeated[operand] = isRepeated[operand] || repeats(graph[id].op);
    }
  }
}

/// Finds the home of each node: the first cell that shows it, which other
/// formulas refer to.
void NodeCells::findHomes(const Book &book) {
  for (size_t sheet = 0; sheet < book.sheets.size(); ++sheet) {
    const auto &rows = book.sheets[sheet].rows;
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t column = 0; column < rows[row].size(); ++column) {
        NodeId node = rows[row][column].node;
        if (node != noNode && operandsOf(graph[node].op) != 0)
          homes.emplace(node, Place{sheet, row, column});
      }
  }
}

Formula NodeCells::helper(const std::string &what, const Formula &formula,
                          double value) {
  size_t row = nodes.rows.size();
  nodes.rows.push_back({Cell::of(what), Cell::formula(formula.text, value)});
  return {nodes.address(row, 1)};
}

void NodeCells::write(NodeId id, Book &book) {
  const Node &node = graph[id];
  Formula formula = formulaOf(id);
  if (auto home = homes.find(id); home != homes.end()) {
    auto [sheet, row, column] = home->second;
    book.sheets[sheet].rows[row][column] =
        Cell::formula(formula.text, value(id));
    formulas[id] = book.sheets[sheet].address(row, column);
    return;
  }
  bool isLeaf = operandsOf(node.op) == 0;
  bool isShared = !isLeaf && (uses[id] > 1 || isRepeated[id]);
  if (isShared || formula.text.size() > maxLength || formula.depth > maxDepth)
    formula = helper(wordOf(node.op), formula, value(id));
  formulas[id] = std::move(formula);
}

void NodeCells::fill(Book &book) {
  findReached(book);
  findHomes(book);
  for (NodeId id = 0; id < graph.size(); ++id)
    if (uses[id] != 0)
      write(id, book);
  for (Sheet &sheet : book.sheets)
    for (auto &row : sheet.rows)
      for (Cell &cell : row)
        if (cell.node != noNode && cell.kind == Cell::Kind::empty)
          cell =
              graph[cell.node].op == Op::constant
                  ? Cell::of(value(cell.node))
                  : Cell::formula(formulas[cell.node].text, value(cell.node));
  if (!links.isEmpty())
    book.sheets.push_back(links.take());
  if (!shapes.isEmpty())
    book.sheets.push_back(shapes.take());
  book.sheets.push_back(std::move(nodes));
}
