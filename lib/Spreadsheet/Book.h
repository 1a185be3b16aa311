//===- Book.h - Sheets of cells, before they are a file ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_BOOK_H
#define AUTOPAR_LIB_SPREADSHEET_BOOK_H

#include "autopar/Cost/Graph.h"

#include <string>
#include <utility>
#include <vector>

namespace autopar::spreadsheet {

struct Cell {
  enum class Kind : uint8_t { empty, text, number, formula };
  enum class Style : uint8_t { plain, title, header, input, note };

  Kind kind = Kind::empty;
  Style style = Style::plain;
  /// The text of the cell, or its formula without the "=".
  std::string text = {};
  /// The number in the cell, or the value of its formula.
  double value = 0;
  /// The node of the graph that the cell shows, until the formula of this node
  /// is written.
  cost::NodeId node = cost::noNode;

  static Cell of(std::string text, Style style = Style::plain) {
    return {Kind::text, style, std::move(text)};
  }
  static Cell of(const char *text, Style style = Style::plain) {
    return of(std::string(text), style);
  }
  static Cell of(double value, Style style = Style::plain) {
    return {Kind::number, style, "", value};
  }
  static Cell formula(std::string text, double value) {
    return {Kind::formula, Style::plain, std::move(text), value};
  }
  static Cell of(cost::NodeId node) {
    Cell cell;
    cell.node = node;
    return cell;
  }
};

struct Sheet {
  std::string name;
  /// The widths of the columns, in characters.
  std::vector<double> widths;
  std::vector<std::vector<Cell>> rows = {};

  void title(const std::string &text) {
    rows.push_back({Cell::of(text, Cell::Style::title)});
  }
  void header(const std::vector<const char *> &names) {
    std::vector<Cell> row;
    for (const char *name : names)
      row.push_back(Cell::of(name, Cell::Style::header));
    rows.push_back(std::move(row));
  }
  void note(const std::string &text) {
    rows.push_back({Cell::of(text, Cell::Style::note)});
  }
  /// Returns the address of a cell as formulas of all sheets can use it:
  /// Time!$C$7.
  std::string address(size_t row, size_t column) const;
  /// Returns the address of a cell for formulas of the same sheet: $C$7.
  static std::string here(size_t row, size_t column);
  /// Returns the address of the cells in the rows `first` to `last` - 1 and in
  /// the columns `firstColumn` to `lastColumn` - 1, without the sheet's name.
  static std::string range(size_t first, size_t last, size_t firstColumn,
                           size_t lastColumn);
};

struct Book {
  std::vector<Sheet> sheets;
  /// The names of cells, each with the address of its cell.
  std::vector<std::pair<std::string, std::string>> names;
};

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_BOOK_H
