//===- Columns.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Columns.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

/// Characters, not bytes, of UTF-8.
static size_t widthOf(const std::string &text) {
  return size_t(std::count_if(text.begin(), text.end(),
                              [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string autopar::validation::printable(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      c = '?';
  return text;
}

void AlignedColumns::add(std::vector<std::string> cells) {
  constexpr size_t widest = 44;
  for (std::string &cell : cells)
    cell = printable(std::move(cell));
  for (std::string &cell : cells)
    if (widthOf(cell) > widest) {
      // Rows of a table often differ at the end of a cell.
      size_t from = cell.size() - (widest - 3);
      while ((cell[from] & 0xC0) == 0x80)
        ++from;
      cell = "..." + cell.substr(from);
    }
  rows.push_back(std::move(cells));
}

std::string AlignedColumns::str() const {
  std::vector<size_t> widths(alignment.size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], widthOf(row[i]));
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string pad(widths[i] - widthOf(row[i]), ' ');
      line += "  " + (alignment[i] == 'r' ? pad + row[i] : row[i] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}
