//===- NodeCells.h - Nodes of a strategy as cells ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_NODECELLS_H
#define AUTOPAR_LIB_SPREADSHEET_NODECELLS_H

#include "Curves.h"

namespace autopar::spreadsheet {

/// Evaluates the graph with cells. Nodes that a sheet asks for have their cells
/// on this sheet. Other nodes that are read several times or are long have a
/// cell on a sheet of their own. The formulas of all other nodes are part of
/// the formulas that read them.
class NodeCells {
public:
  explicit NodeCells(const evaluation::PricedStep &step);

  Inputs &inputs() { return ownInputs; }
  /// Fills the cells of `book` that show nodes, and adds the sheets with the
  /// cells that these formulas use.
  void fill(Book &book);

  /// Returns the formula of a node, once `fill` has reached this node.
  const Formula &of(cost::NodeId node) const { return formulas[node]; }
  double value(cost::NodeId node) const {
    return graph[node].isWhole ? step.values.whole(node).real()
                               : step.values.real(node);
  }

private:
  struct Place {
    size_t sheet, row, column;
  };

  void findReached(const Book &book);
  void findHomes(const Book &book);
  void write(cost::NodeId node, Book &book);
  Formula formulaOf(cost::NodeId id);
  Formula arithmetic(const cost::Node &node, const Formula &a) const;
  Formula conditionOf(cost::NodeId node) const;
  Formula pairs(const cost::Node &node) const;
  Formula distinctExperts(const cost::Node &node) const;
  Formula busiestRows(const cost::Node &node) const;
  Formula roof(const cost::Node &node) const;
  Formula quarterShare(const cost::Node &node) const;
  Formula shapeRatio(const cost::Node &node);
  Formula routeTime(const cost::Node &node, bool atFullBandwidth);
  Formula levelTime(const LevelCells &level, const Formula &bytes,
                    const Formula &log2Bytes, double log2Value);
  /// Adds a cell to the sheet of nodes. Returns a formula that refers to this
  /// cell.
  Formula helper(const std::string &what, const Formula &formula, double value);

  const evaluation::PricedStep &step;
  const cost::Graph &graph;
  Inputs ownInputs;
  LinkSheet links;
  ShapeSheet shapes;
  Sheet nodes;
  std::vector<Formula> formulas;
  /// For each node, how many other nodes read it (`uses`), and whether formulas
  /// contain it more than once (`isRepeated`).
  std::vector<uint32_t> uses;
  std::vector<bool> isRepeated;
  std::map<cost::NodeId, Place> homes;
};

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_NODECELLS_H
