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
    /// Line of the file, from 1; in a JSON file, index of the element.
    size_t line = 0;
    std::vector<std::string> cells;
  };

  /// Makes an empty table. Errors: no columns, too many, duplicate names.
  static Result<DataTable> create(std::string name,
                                  std::vector<std::string> columns,
                                  std::string headAt);

  const std::string &name() const { return file; }
  const std::vector<std::string> &columns() const { return head; }
  const std::vector<Row> &rows() const { return body; }
  bool has(std::string_view column) const;
  /// The cell, "" if there is no such column.
  std::string_view cell(const Row &row, std::string_view column) const;
  /// The location of a row: "file.csv:12", "file.json: /11".
  std::string where(const Row &row) const;

  /// Adds a row. Errors: a wrong number of cells, too many cells in total, too
  /// long a cell.
  Result<bool> add(Row row);
  /// Renames the file's column `theirs`, which must exist, to `ours`.
  void rename(const std::string &ours, const std::string &theirs);
  /// Adds column `ours` with `text` in every row.
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

/// Reads `path`, or standard input if it is "-".
Result<DataTable> readTable(const std::string &path);

/// Parses JSON if the text begins with a bracket, JSON lines if each line does,
/// else CSV.
Result<DataTable> parseTable(std::string text, const std::string &name);

/// Parses RFC 4180 with a head. Blank lines are skipped, spaces around cells
/// dropped. The separator is the first of `,`, tab and `;` that the head has.
Result<DataTable> parseCsvTable(std::string_view text, const std::string &name);

/// Parses an object per line; otherwise like `parseJsonTable`.
Result<DataTable> parseJsonLines(std::string_view text,
                                 const std::string &name);

/// Parses an array of flat objects. Numbers keep the digits of a double, nested
/// values become JSON text, null becomes an empty cell.
Result<DataTable> parseJsonTable(std::string_view text,
                                 const std::string &name);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TABLE_H
