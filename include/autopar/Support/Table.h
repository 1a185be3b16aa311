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

/// A table of text cells with named columns, each row as long as the head.
class DataTable {
public:
  struct Row {
    /// Of the file, from 1; of a JSON file: which element.
    size_t line = 0;
    std::vector<std::string> cells;
  };

  /// An empty table. Errors: no columns, too many, two of one name.
  static Result<DataTable> create(std::string name,
                                  std::vector<std::string> columns,
                                  std::string headAt);

  const std::string &name() const { return file; }
  const std::vector<std::string> &columns() const { return head; }
  const std::vector<Row> &rows() const { return body; }
  bool has(std::string_view column) const;
  /// "" where there is no such column.
  std::string_view cell(const Row &row, std::string_view column) const;
  /// "file.csv:12", "file.json: /11".
  std::string where(const Row &row) const;

  /// Adds a row. Errors: another number of cells than columns, too many cells
  /// of all rows, too long a cell.
  Result<bool> add(Row row);
  /// Says that column `ours` is what the file calls `theirs`, which it has.
  void rename(const std::string &ours, const std::string &theirs);
  /// Says that column `ours` is `text` in every row.
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

/// Reads `path` ("-": standard input).
Result<DataTable> readTable(const std::string &path);

/// JSON where it begins with a bracket, lines of JSON where each line does,
/// else CSV.
Result<DataTable> parseTable(std::string text, const std::string &name);

/// RFC 4180 with a head; blank lines are skipped, spaces around cells dropped.
/// The separator is the first of `,`, tab and `;` that the head has.
Result<DataTable> parseCsvTable(std::string_view text, const std::string &name);

/// An object in each line, else as `parseJsonTable`.
Result<DataTable> parseJsonLines(std::string_view text,
                                 const std::string &name);

/// An array of flat objects. Numbers keep their digits as far as a double has
/// them, nested values are kept as JSON text, null is an empty cell.
Result<DataTable> parseJsonTable(std::string_view text,
                                 const std::string &name);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TABLE_H
