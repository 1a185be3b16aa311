//===- Table.h - Tables of text cells ---------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_TABLE_H
#define AUTOPAR_SUPPORT_TABLE_H

#include "autopar/Support/Result.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace autopar {

/// A table of text cells with named columns; each row has as many cells as
/// there are columns.
class DataTable {
public:
  struct Row {
    /// The line of the row in the file, from 1; in a JSON file, the index of
    /// the element.
    size_t line = 0;
    std::vector<std::string> cells;
  };

  /// Makes an empty table. Errors: no columns, too many columns, duplicate
  /// names.
  static Result<DataTable> create(std::string name,
                                  std::vector<std::string> columns,
                                  std::string headAt);

  const std::string &name() const { return file; }
  const std::vector<std::string> &columns() const { return head; }
  const std::vector<Row> &rows() const { return body; }
  bool has(std::string_view column) const;
  /// Returns the cell of a row in `column`; "" if there is no such column.
  std::string_view cell(const Row &row, std::string_view column) const;
  /// Returns the location of a row for errors: "file.csv:12", "file.json: /11".
  std::string where(const Row &row) const;

  /// Adds a row. Errors: a wrong number of cells, too many cells in total, a
  /// cell that is too long.
  Result<bool> add(Row row);
  /// Renames the column `theirs`, which must exist, to `ours`.
  void rename(const std::string &ours, const std::string &theirs);
  /// Adds a column `ours` that has `text` in every row.
  void setConstant(const std::string &ours, std::string text);
  void setLocatedByPointer() { byPointer = true; }

private:
  std::string file;
  std::vector<std::string> head;
  std::vector<Row> body;
  std::map<std::string, size_t, std::less<>> positions;
  std::map<std::string, std::string, std::less<>> constants;
  bool byPointer = false;
};

/// Reads a table from the file `path`, or from standard input if it is "-".
Result<DataTable> readTable(const std::string &path);

/// Parses a table: as JSON if the text begins with a bracket, as JSON lines if
/// each line does, else as CSV.
Result<DataTable> parseTable(std::string text, const std::string &name);

/// Parses CSV (RFC 4180) whose first line names the columns. Blank lines are
/// skipped, and spaces around cells dropped. The separator is the first of `,`,
/// tab and `;` that the first line contains.
Result<DataTable> parseCsvTable(std::string_view text, const std::string &name);

/// Parses a table of JSON lines, one object per line, with the conversions of
/// `parseJsonTable`.
Result<DataTable> parseJsonLines(std::string_view text,
                                 const std::string &name);

/// Parses a JSON array of flat objects as a table. Numbers keep the digits of a
/// double, nested values become JSON text, and null becomes an empty cell.
Result<DataTable> parseJsonTable(std::string_view text,
                                 const std::string &name);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TABLE_H
