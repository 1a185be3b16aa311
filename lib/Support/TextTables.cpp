//===- TextTables.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/TextTables.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;

std::string autopar::print(const char *format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

std::string autopar::percent(double part, double whole) {
  if (whole <= 0)
    return "";
  double share = 100 * part / whole;
  return share > 0 && share < 0.5 ? "<1%" : print("%.0f%%", share);
}

std::string autopar::formatFlops(Checked flops) {
  static constexpr const char *units[] = {"FLOP",  "kFLOP", "MFLOP",
                                          "GFLOP", "TFLOP", "PFLOP",
                                          "EFLOP", "ZFLOP", "YFLOP"};
  double value = flops.real();
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  return print(value < 10 ? "%.2f " : "%.1f ", value) + units[unit];
}

std::string autopar::formatFigure(double value, const std::string &unit) {
  // Figures of hardware are printed without an exponent.
  if (unit == "B")
    return formatBytes(static_cast<int64_t>(value));
  if (unit == "B/s")
    return print("%.6g GB/s", value / 1e9);
  if (unit == "FLOP/s")
    return print("%.6g TFLOP/s", value / 1e12);
  return print("%.6g", value) + (unit == "1" ? "" : " " + unit);
}

/// Returns the first `width` characters; if text is cut, it ends with "..".
static std::string fit(const std::string &text, size_t width) {
  if (lengthOf(text) <= width)
    return text;
  std::string cut;
  size_t length = 0;
  for (char c : text) {
    length += (c & 0xC0) != 0x80;
    if (length > width - 2)
      break;
    cut += c;
  }
  return cut + "..";
}

std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> widths(alignment.size(), 0);
  size_t total = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    for (const auto &row : rows)
      if (alignment[i] != 'w')
        widths[i] = std::max(widths[i], lengthOf(row[i]));
    total += 2 + widths[i];
  }
  // If the table is too wide, the widest text is cut; numbers are never cut.
  size_t widest = alignment.size();
  for (size_t i = 0; i < widths.size(); ++i)
    if (alignment[i] == 'l' &&
        (widest == widths.size() || widths[i] > widths[widest]))
      widest = i;
  // On a narrow terminal, a row takes two lines, so that its name is not cut to
  // pieces.
  size_t least = width < TextStyle().width ? 20 : 8;
  if (total > width && widest < widths.size())
    widths[widest] -= std::min(widths[widest] - std::min(widths[widest], least),
                               total - width);
  return widths;
}

void TextTable::add(std::vector<std::string> cells) {
  for (std::string &cell : cells)
    cell = visible(cell);
  cells.resize(alignment.size());
  rows.push_back(std::move(cells));
}

std::vector<std::vector<size_t>>
TextTable::linesOf(const std::vector<size_t> &widths) const {
  std::vector<std::vector<size_t>> lines(1);
  size_t used = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (!lines.back().empty() && used + 2 + widths[i] > width) {
      lines.emplace_back();
      used = 2;
    }
    lines.back().push_back(i);
    used += 2 + widths[i];
  }
  return lines;
}

std::string TextTable::lineOf(const std::vector<std::string> &row,
                              const std::vector<size_t> &columns,
                              const std::vector<size_t> &widths) const {
  std::string line;
  for (size_t i : columns) {
    if (alignment[i] == 'w')
      return wrap(line + "  ", row[i], width);
    std::string cell = fit(row[i], widths[i]);
    std::string space(widths[i] - lengthOf(cell), ' ');
    line += alignment[i] == 'l' ? "  " + cell + space : "  " + space + cell;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string TextTable::str() const {
  std::vector<size_t> columns = widths();
  std::vector<std::vector<size_t>> lines = linesOf(columns);
  std::string text;
  for (const auto &row : rows)
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string line = lineOf(row, lines[i], columns);
      if (i == 0 || line != "\n")
        text += (i > 0 ? "  " : "") + line;
    }
  return text;
}
