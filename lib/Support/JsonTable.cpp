//===- JsonTable.cpp - Tables from arrays of objects ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Json.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Table.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace autopar;
using nlohmann::json;

/// Returns the text of the cell for `value`.
static std::string cellOf(const json &value) {
  if (value.is_null())
    return "";
  if (value.is_string())
    return value.get_ref<const std::string &>();
  return value.dump();
}

/// Returns the names of all members, in the order of their first use.
static Result<std::vector<std::string>> columnsOf(const json &root,
                                                  const std::string &name) {
  std::vector<std::string> columns;
  std::map<std::string_view, bool> seen;
  size_t index = 0;
  for (const json &element : root) {
    std::string where = name + ": /" + std::to_string(index++);
    if (!element.is_object())
      return Error{where, "expected an object: a row by its columns", ""};
    for (const auto &member : element.items()) {
      if (!seen.emplace(member.key(), true).second)
        continue;
      columns.push_back(member.key());
      if (columns.size() > limits::maxTableColumns)
        return Error{where,
                     "more than " + formatInteger(limits::maxTableColumns) +
                         " columns",
                     ""};
    }
  }
  return columns;
}

/// Converts the array `root` to a table.
static Result<DataTable> tableOf(const json &root, const std::string &name) {
  Result<std::vector<std::string>> columns = columnsOf(root, name);
  if (!columns)
    return columns.error();
  Result<DataTable> table = DataTable::create(name, *columns, name);
  if (!table)
    return table.error();
  table->setLocatedByPointer();
  for (const json &element : root) {
    DataTable::Row row;
    row.line = table->rows().size() + 1;
    for (const std::string &column : *columns) {
      auto found = element.find(column);
      row.cells.push_back(found == element.end() ? "" : cellOf(*found));
    }
    Result<bool> added = table->add(std::move(row));
    if (!added)
      return added.error();
  }
  return table;
}

Result<DataTable> autopar::parseJsonTable(std::string_view text,
                                          const std::string &name) {
  Result<JsonDocument> document = JsonDocument::parse(text, name);
  if (!document)
    return document.error();
  if (!document->reader().isArray())
    return Error{name, "expected an array of objects: a row each", ""};
  return tableOf(document->toJson(), name);
}

Result<DataTable> autopar::parseJsonLines(std::string_view text,
                                          const std::string &name) {
  json rows = json::array();
  size_t number = 0;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    Result<JsonDocument> row =
        JsonDocument::parse(line, name + ":" + std::to_string(number));
    if (!row)
      return row.error();
    rows.push_back(row->toJson());
  }
  return tableOf(rows, name);
}
