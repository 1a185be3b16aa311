//===- Table.h - Aligned columns for a terminal -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_TABLE_H
#define AUTOPAR_TOOLS_AUTOPAR_TABLE_H

#include <string>
#include <vector>

namespace autopar {

/// Rows of text, printed with two spaces between columns. Columns in `right`
/// are aligned to the right.
class Table {
public:
  explicit Table(std::vector<std::string> head, std::vector<size_t> right = {});
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  bool empty() const { return rows.size() == 1; }
  /// Every line starts with two spaces and ends without any.
  std::string str() const;

private:
  std::vector<std::vector<std::string>> rows;
  std::vector<size_t> right;
};

/// `value` with its unit, scaled for reading: "3350 GB/s", "79.19 GiB",
/// "989.4 TFLOP/s", "3.31 us", "0.784".
std::string formatFigure(double value, const std::string &unit);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_TABLE_H
