//===- RowReader.h - Checked cells of a row ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_ROWREADER_H
#define AUTOPAR_VALIDATION_ROWREADER_H

#include "autopar/Support/Table.h"

#include <cstdint>
#include <optional>

namespace autopar::validation {

/// Reads cells of one row. The first error stays; after it every getter
/// returns nothing.
/// A degree; the product of any three fits.
constexpr int64_t maxDegree = int64_t(1) << 15;

class RowReader {
public:
  RowReader(const DataTable &table, const DataTable::Row &row)
      : table(table), row(row) {}

  const std::optional<Error> &error() const { return first; }
  void fail(const std::string &message);

  /// "" where the cell is empty or the table has no such column.
  std::string text(std::string_view column) const;
  /// The row's own name, or "row N" for its line.
  std::string id() const;
  std::optional<int64_t> integer(std::string_view column, int64_t min,
                                 int64_t max);
  /// The same, of a cell that must have something.
  int64_t need(std::string_view column, int64_t min, int64_t max);
  /// A finite number above 0.
  std::optional<double> positive(std::string_view column);

private:
  void expected(std::string_view column, const std::string &what);

  const DataTable &table;
  const DataTable::Row &row;
  std::optional<Error> first;
};

/// The number that `text` is as a whole; nothing where it is none.
std::optional<double> numberIn(std::string_view text);

/// The `needed` columns that `table` lacks.
std::vector<std::string> absentColumns(const DataTable &table,
                                       const std::vector<std::string> &needed);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_ROWREADER_H
