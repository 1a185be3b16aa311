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

/// Returns the largest number of columns that lines of a report may have.
inline size_t textWidth() { return TextStyleScope::current().width; }

/// The width for tables that are never cut.
inline constexpr size_t uncut = SIZE_MAX;

/// A table of text cells in aligned columns. Cells that are too wide are cut,
/// and columns without room continue on the next line.
class TextTable {
public:
  /// `alignment` has one letter per column: 'l' or 'r'. The last one may be 'w'
  /// for text that wraps instead of being cut.
  explicit TextTable(std::string alignment, size_t width = textWidth())
      : alignment(std::move(alignment)), width(width) {}
  void add(std::vector<std::string> cells);
  bool empty() const { return rows.empty(); }
  bool isHeadOnly() const { return rows.size() == 1; }
  /// Returns the table as lines that are indented by two, with columns two
  /// apart.
  std::string str() const;

private:
  std::vector<size_t> widths() const;
  /// Returns, for each line of a row, the columns that are written in it.
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

/// Formats `value` with a printf format.
std::string print(const char *format, double value);
/// Returns `part` over `whole` as a percentage: "61%"; "<1%" if it would round
/// to 0, "" for 0.
std::string percent(double part, double whole);
/// Returns `value` with its unit, scaled so that it is easy to read: "3350
/// GB/s", "79.19 GiB", "989.4 TFLOP/s", "3.31 us", "0.784".
std::string formatFigure(double value, const std::string &unit);
/// Returns FLOPs with a prefix: 1.4e14 -> "140 TFLOP".
std::string formatFlops(Checked flops);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TEXTTABLES_H
