//===- ReportColumns.h - Reports as rows ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_WRITE_REPORTCOLUMNS_H
#define AUTOPAR_WRITE_REPORTCOLUMNS_H

#include "autopar/Report/Report.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace autopar::writing {

/// A number of reports as a column of tables: how it is read from a report, and
/// how it is written.
struct ReportColumn {
  /// `key`: the name with its unit, as in the JSON report. `head`: the title of
  /// the column in a text table.
  const char *key, *head;
  /// The alignment of the column in a `TextTable`: 'l' or 'r'.
  char alignment;
  /// Returns the value of the column; null if the report does not have it.
  nlohmann::ordered_json (*value)(const report::Report &report);
  /// Returns the text of a value that is not null.
  std::string (*text)(const nlohmann::ordered_json &value);
  /// `axis`: the title of the axis in a plot. `unit`: the number by which the
  /// value is divided in a plot. "" and 0 if the column is not plotted.
  const char *axis = "";
  double unit = 0;
  /// Whether the column is about a service: it is null in reports without
  /// requests.
  bool isOfRequests = false;

  /// Returns the value as text, "-" for null.
  std::string textOf(const nlohmann::ordered_json &value) const {
    return value.is_null() ? "-" : text(value);
  }
};

/// Returns all columns: first those of the question, then those of the answer.
const std::vector<ReportColumn> &reportColumns();
/// Returns the index of the column `key`, which must exist.
size_t reportColumn(std::string_view key);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_REPORTCOLUMNS_H
