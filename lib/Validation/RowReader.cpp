//===- RowReader.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowReader.h"

#include "autopar/Support/Text.h"

#include <charconv>
#include <cmath>

using namespace autopar;
using namespace autopar::validation;

std::optional<double> autopar::validation::numberIn(std::string_view text) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::vector<std::string>
autopar::validation::absentColumns(const DataTable &table,
                                   const std::vector<std::string> &needed) {
  std::vector<std::string> absent;
  for (const std::string &column : needed)
    if (!table.has(column))
      absent.push_back(column);
  return absent;
}

void RowReader::fail(const std::string &message) {
  if (!first)
    first = Error{table.where(row), message, ""};
}

void RowReader::expected(std::string_view column, const std::string &what) {
  std::string_view found = table.cell(row, column);
  fail(std::string(column) + ": expected " + what + ", found " +
       (found.empty() ? "nothing" : "\"" + shorten(found) + "\""));
}

std::string RowReader::text(std::string_view column) const {
  std::string_view cell = table.cell(row, column);
  for (std::string_view absent : {"nan", "NaN", "null", "None", "NA"})
    if (cell == absent)
      return "";
  return std::string(cell);
}

std::string RowReader::id() const {
  std::string own = text("id");
  return own.empty() ? "row " + std::to_string(row.line) : own;
}

std::optional<int64_t> RowReader::integer(std::string_view column, int64_t min,
                                          int64_t max) {
  std::string cell = text(column);
  if (first || cell.empty())
    return std::nullopt;
  // pandas writes whole numbers as "8.0" where a column has gaps.
  std::optional<double> value = numberIn(cell);
  if (value && *value == std::floor(*value) && *value >= double(min) &&
      *value <= double(max))
    return int64_t(*value);
  expected(column, "a whole number from " + formatInteger(min) + " to " +
                       formatInteger(max));
  return std::nullopt;
}

int64_t RowReader::need(std::string_view column, int64_t min, int64_t max) {
  std::optional<int64_t> value = integer(column, min, max);
  if (!value && !first)
    expected(column, "a whole number from " + formatInteger(min) + " to " +
                         formatInteger(max));
  return value.value_or(min);
}

std::optional<double> RowReader::positive(std::string_view column) {
  std::string cell = text(column);
  if (first || cell.empty())
    return std::nullopt;
  constexpr double least = 1e-6, most = 1e15;
  std::optional<double> value = numberIn(cell);
  if (value && *value >= least && *value <= most)
    return value;
  expected(column, "a number from 0.000001 to 1e15");
  return std::nullopt;
}
