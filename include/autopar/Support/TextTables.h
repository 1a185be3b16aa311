//===- TextTables.h - Aligned tables and wrapped paragraphs -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_TEXTTABLES_H
#define AUTOPAR_SUPPORT_TEXTTABLES_H

#include "autopar/Support/Checked.h"
#include "autopar/Support/Terminal.h"
#include "autopar/Support/TextStyle.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopar {

/// Columns of a terminal that a report uses at most.
inline size_t textWidth() { return TextStyleScope::current().width; }

/// Of tables that are as wide as what they hold.
inline constexpr size_t uncut = SIZE_MAX;

/// Rows of cells whose columns line up. Cells that are too wide are cut, and
/// columns that find no room go on in a line below.
class TextTable {
public:
  /// One letter a column: 'l' or 'r' says how it is aligned. The last one may
  /// be 'w': text that goes on below, and is not cut.
  explicit TextTable(std::string alignment, size_t width = textWidth())
      : alignment(std::move(alignment)), width(width) {}
  void add(std::vector<std::string> cells);
  bool empty() const { return rows.empty(); }
  bool isHeadOnly() const { return rows.size() == 1; }
  /// Lines indented by two, columns two apart.
  std::string str() const;

private:
  std::vector<size_t> widths() const;
  /// The columns of the lines of a row.
  std::vector<std::vector<size_t>>
  linesOf(const std::vector<size_t> &widths) const;
  std::string lineOf(const std::vector<std::string> &row,
                     const std::vector<size_t> &columns,
                     const std::vector<size_t> &widths) const;

  std::string alignment;
  size_t width;
  std::vector<std::vector<std::string>> rows;
};

inline std::string wrapText(std::string_view head, std::string_view text) {
  return wrap(head, visible(text), textWidth());
}

/// `value` as `format`, a format of printf for it, says.
std::string print(const char *format, double value);
/// "61%"; "<1%" of what would round to none, "" of nothing.
std::string percent(double part, double whole);
/// `value` with its unit, scaled for reading: "3350 GB/s", "79.19 GiB",
/// "989.4 TFLOP/s", "3.31 us", "0.784".
std::string formatFigure(double value, const std::string &unit);
/// 1.4e14 -> "140 TFLOP".
std::string formatFlops(Checked flops);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TEXTTABLES_H
