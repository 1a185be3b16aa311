//===- CsvTable.cpp - Tables from CSV, by libcsv --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Limits.h"
#include "autopar/Support/Table.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <csv.h>
#include <optional>

using namespace autopar;

namespace {

/// Feeds a file to libcsv line by line, so that a row knows its first line.
class CsvReader {
public:
  CsvReader(std::string name, char separator) : name(std::move(name)) {
    csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_delim(&parser, static_cast<unsigned char>(separator));
  }
  CsvReader(const CsvReader &) = delete;
  CsvReader &operator=(const CsvReader &) = delete;
  ~CsvReader() { csv_free(&parser); }

  Result<DataTable> read(std::string_view text);

private:
  static void takeCell(void *bytes, size_t size, void *reader);
  static void takeRow(int, void *reader);
  void feed(std::string_view line);
  void finish();
  void endRow();
  void fail(std::string message, std::string note = "") {
    if (!error)
      error = Error{where(), std::move(message), std::move(note)};
  }
  std::string where() const { return name + ":" + std::to_string(row.line); }

  csv_parser parser;
  std::string name;
  /// How many lines were fed (`line`), and whether the last one left a row
  /// open.
  size_t line = 0;
  bool rowOpen = false;
  DataTable::Row row;
  std::optional<DataTable> table;
  std::optional<Error> error;
};

} // namespace

void CsvReader::takeCell(void *bytes, size_t size, void *reader) {
  auto &self = *static_cast<CsvReader *>(reader);
  if (self.row.cells.size() > limits::maxTableColumns)
    return self.fail("more than " + formatInteger(limits::maxTableColumns) +
                     " columns");
  if (!self.error)
    self.row.cells.emplace_back(static_cast<const char *>(bytes), size);
}

void CsvReader::takeRow(int, void *reader) {
  auto &self = *static_cast<CsvReader *>(reader);
  if (!self.error)
    self.endRow();
  self.rowOpen = false;
  self.row.cells.clear();
}

/// Returns whether all cells are numbers, which means that the row is no head.
static bool areNumbers(const std::vector<std::string> &cells) {
  return std::all_of(cells.begin(), cells.end(), [](const std::string &cell) {
    return !cell.empty() &&
           cell.find_first_not_of("0123456789.+-eE") == std::string::npos;
  });
}

void CsvReader::endRow() {
  if (table) {
    Result<bool> added = table->add(std::move(row));
    if (!added)
      error = added.error();
    return;
  }
  if (areNumbers(row.cells))
    return fail("the table has no head: its first row is all numbers");
  // A column without a name gets one, because pandas leaves the head of its
  // index empty.
  for (size_t i = 0; i < row.cells.size(); ++i)
    if (row.cells[i].empty())
      row.cells[i] = "column " + std::to_string(i + 1);
  Result<DataTable> made =
      DataTable::create(name, std::move(row.cells), where());
  if (!made)
    error = made.error();
  else
    table = std::move(*made);
}

void CsvReader::feed(std::string_view text) {
  ++line;
  if (!rowOpen) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return;
    rowOpen = true;
    row.line = line;
  }
  if (!isUtf8(text) || text.find('\0') != std::string_view::npos)
    return fail("line " + std::to_string(line) + " is not text in UTF-8",
                "save the table as UTF-8");
  if (csv_parse(&parser, text.data(), text.size(), takeCell, takeRow, this) ==
      text.size())
    return;
  if (csv_error(&parser) == CSV_EPARSE)
    fail("a quote in line " + std::to_string(line) +
             " neither begins nor ends a cell",
         "a cell with quotes is written \"like \"\"this\"\"\"");
  else
    fail(csv_strerror(csv_error(&parser)));
}

void CsvReader::finish() {
  if (csv_fini(&parser, takeCell, takeRow, this) != 0)
    fail("a cell of the row that begins here opens a quote that nothing "
         "closes");
}

/// Returns the end of the line that begins at `start`, after its LF, CR or
/// CRLF.
static size_t endOfLine(std::string_view text, size_t start) {
  size_t end = text.find_first_of("\r\n", start);
  if (end == std::string_view::npos)
    return text.size();
  bool two =
      text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
  return end + (two ? 2 : 1);
}

Result<DataTable> CsvReader::read(std::string_view text) {
  for (size_t at = 0, end; at < text.size() && !error; at = end) {
    end = endOfLine(text, at);
    feed(text.substr(at, end - at));
  }
  if (!error)
    finish();
  if (error)
    return *error;
  if (!table)
    return Error{name, "the table has no head and no rows", ""};
  return std::move(*table);
}

Result<DataTable> autopar::parseCsvTable(std::string_view text,
                                         const std::string &name) {
  constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, byteOrderMark.size()) == byteOrderMark)
    text.remove_prefix(byteOrderMark.size());
  size_t start = text.find_first_not_of(" \r\n");
  std::string_view head =
      start == std::string_view::npos
          ? text
          : text.substr(start, endOfLine(text, start) - start);
  char separator = ',';
  for (char candidate : {';', '\t', ','})
    if (head.find(candidate) != std::string_view::npos)
      separator = candidate;
  return CsvReader(name, separator).read(text);
}
