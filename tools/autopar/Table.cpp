//===- Table.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

using namespace autopar;

Table::Table(std::vector<std::string> head, std::vector<size_t> right)
    : rows{std::move(head)}, right(std::move(right)) {}

std::string Table::str() const {
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string pad(widths[i] - row[i].size(), ' ');
      bool toRight = std::find(right.begin(), right.end(), i) != right.end();
      line += "  " + (toRight ? pad + row[i] : row[i] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Without an exponent in the range that hardware is in.
static std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string autopar::formatFigure(double value, const std::string &unit) {
  if (unit == "B")
    return formatBytes(static_cast<int64_t>(value));
  if (unit == "B/s")
    return plain(value / 1e9) + " GB/s";
  if (unit == "FLOP/s")
    return plain(value / 1e12) + " TFLOP/s";
  return plain(value) + (unit == "1" ? "" : " " + unit);
}
