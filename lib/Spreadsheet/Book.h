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
  /// A text, or a formula without its "=".
  std::string text = {};
  /// The number, or the value of the formula.
  double value = 0;
  /// The node of the cell, until its formula is written.
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
  /// Widths of columns, in characters.
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
  /// The address of a cell, as formulas of all sheets have it: Time!$C$7.
  std::string address(size_t row, size_t column) const;
  /// The same for formulas of this sheet: $C$7.
  static std::string here(size_t row, size_t column);
  /// Rows `first` to `last` - 1 and columns likewise, without the sheet's name.
  static std::string range(size_t first, size_t last, size_t firstColumn,
                           size_t lastColumn);
};

struct Book {
  std::vector<Sheet> sheets;
  /// Names of cells, and their addresses.
  std::vector<std::pair<std::string, std::string>> names;
};

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_BOOK_H
