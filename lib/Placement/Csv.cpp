//===- Csv.cpp ------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Csv.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <charconv>

using namespace autopar;
using namespace autopar::placement;

static std::string_view trim(std::string_view text) {
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && blank(text.back()))
    text.remove_suffix(1);
  return text;
}

CsvReader::CsvReader(std::string_view text, std::string name)
    : rest(text), name(std::move(name)) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (rest.substr(0, mark.size()) == mark)
    rest.remove_prefix(mark.size());
}

bool CsvReader::readLine() {
  do {
    if (rest.empty())
      return false;
    size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++lineNumber;
  } while (trim(line).empty());
  split();
  return true;
}

void CsvReader::split() {
  fields.clear();
  for (size_t begin = 0; begin <= line.size();) {
    size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(trim(line.substr(begin, end - begin)));
    begin = end + 1;
  }
}

void CsvReader::expectHeader(std::string_view words) {
  header = words;
  columns =
      static_cast<size_t>(std::count(words.begin(), words.end(), ',')) + 1;
  if (!readLine()) {
    fail("is empty", "expected the line " + header);
    return;
  }
  std::string found = join(fields, ",");
  if (found != header)
    failIn(line, "expected the line " + header + ", found " + shorten(found));
}

bool CsvReader::next() {
  if (failed() || !readLine())
    return false;
  if (fields.size() == columns)
    return true;
  failIn(line,
         "expected " + countOf(columns, "field") + ", found " +
             std::to_string(fields.size()),
         "lines are " + header);
  return false;
}

void CsvReader::fail(std::string message, std::string note) {
  if (!failed())
    error = Error{name, std::move(message), std::move(note)};
}

void CsvReader::failIn(std::string_view text, std::string message,
                       std::string note) {
  if (failed())
    return;
  size_t column = static_cast<size_t>(text.data() - line.data()) + 1;
  error = Error{name + ":" + std::to_string(lineNumber) + ":" +
                    std::to_string(column),
                std::move(message), std::move(note)};
}

void CsvReader::failAt(size_t field, std::string message, std::string note) {
  failIn(fields[field], std::move(message), std::move(note));
}

int64_t CsvReader::parseInteger(std::string_view text, int64_t min,
                                int64_t max) {
  int64_t value = 0;
  auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = status == std::errc() && end == text.data() + text.size();
  if (whole && value >= min && value <= max)
    return value;
  failIn(text, "expected an integer from " + std::to_string(min) + " to " +
                   std::to_string(max) + ", found '" + shorten(text) + "'");
  return min;
}

int64_t CsvReader::integer(size_t field, int64_t min, int64_t max) {
  return failed() ? min : parseInteger(fields[field], min, max);
}

double CsvReader::number(size_t field, double min, double max) {
  if (failed())
    return min;
  std::string_view text = fields[field];
  double value = 0;
  auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = status == std::errc() && end == text.data() + text.size();
  if (whole && value >= min && value <= max) // False for NaN.
    return value;
  failAt(field, "expected a number from " + formatNumber(min) + " to " +
                    formatNumber(max) + ", found '" + shorten(text) + "'");
  return min;
}

std::vector<int64_t> CsvReader::integers(size_t field, int64_t min, int64_t max,
                                         size_t maxCount) {
  std::vector<int64_t> values;
  std::string_view text = fields[field];
  while (!failed() && !text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    if (values.size() == maxCount)
      failIn(text, "expected at most " + std::to_string(maxCount) + " numbers");
    else
      values.push_back(parseInteger(text.substr(0, end), min, max));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ')
      text.remove_prefix(1);
  }
  return values;
}
