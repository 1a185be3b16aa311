//===- Table.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Table.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;

Result<DataTable> DataTable::create(std::string name,
                                    std::vector<std::string> columns,
                                    std::string headAt) {
  if (columns.empty())
    return Error{headAt, "the table has no head and no rows", ""};
  if (columns.size() > limits::maxTableColumns)
    return Error{
        headAt,
        "more than " + formatInteger(limits::maxTableColumns) + " columns", ""};
  DataTable table;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].size() > limits::maxCellBytes)
      return Error{headAt,
                   "a name of a column is longer than " +
                       formatInteger(limits::maxCellBytes) + " bytes",
                   ""};
    if (!table.positions.emplace(columns[i], i).second)
      return Error{
          headAt, "two columns are called \"" + shorten(columns[i]) + "\"", ""};
  }
  table.file = std::move(name);
  table.head = std::move(columns);
  return table;
}

bool DataTable::has(std::string_view column) const {
  return constants.count(column) || positions.count(column);
}

std::string_view DataTable::cell(const Row &row,
                                 std::string_view column) const {
  auto constant = constants.find(column);
  if (constant != constants.end())
    return constant->second;
  auto position = positions.find(column);
  return position == positions.end() ? std::string_view()
                                     : row.cells[position->second];
}

std::string DataTable::where(const Row &row) const {
  return byPointer ? file + ": /" + std::to_string(row.line - 1)
                   : file + ":" + std::to_string(row.line);
}

Result<bool> DataTable::add(Row row) {
  if (row.cells.size() != head.size())
    return Error{where(row),
                 "the row has " + countOf(row.cells.size(), "cell") +
                     ", the head has " + countOf(head.size(), "column"),
                 ""};
  if ((body.size() + 1) * head.size() > limits::maxTableCells)
    return Error{where(row),
                 "the table has more than " +
                     formatInteger(limits::maxTableCells) + " cells",
                 "split the file"};
  for (size_t i = 0; i < head.size(); ++i)
    if (row.cells[i].size() > limits::maxCellBytes)
      return Error{where(row),
                   "the cell of \"" + shorten(head[i]) + "\" has " +
                       formatInteger(int64_t(row.cells[i].size())) +
                       " bytes, more than " +
                       formatInteger(limits::maxCellBytes),
                   ""};
  body.push_back(std::move(row));
  return true;
}

void DataTable::rename(const std::string &ours, const std::string &theirs) {
  // The name is looked up in the original head, so that two columns may swap
  // their names.
  auto found = std::find(head.begin(), head.end(), theirs);
  if (found != head.end())
    positions[ours] = size_t(found - head.begin());
}

void DataTable::setConstant(const std::string &ours, std::string text) {
  constants[ours] = std::move(text);
}

Result<DataTable> autopar::readTable(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  return parseTable(std::move(*text), path == "-" ? "<stdin>" : path);
}

Result<DataTable> autopar::parseTable(std::string text,
                                      const std::string &name) {
  // Some editors begin UTF-8 files with a byte order mark, which is removed.
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0)
    text.erase(0, 3);
  size_t first = text.find_first_not_of(" \t\r\n");
  char opens = first == std::string::npos ? '\0' : text[first];
  return opens == '{'   ? parseJsonLines(text, name)
         : opens == '[' ? parseJsonTable(text, name)
                        : parseCsvTable(text, name);
}
