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

/// A value of reports as a column of tables: as number of the JSON report, and
/// as text.
struct ReportColumn {
  /// The key with its unit, as in the JSON report; the head in a text table.
  const char *key, *head;
  /// The alignment in a `TextTable`.
  char alignment;
  /// Returns null if a report does not have the value.
  nlohmann::ordered_json (*value)(const report::Report &report);
  /// Writes a value that is not null.
  std::string (*text)(const nlohmann::ordered_json &value);
  /// The title of a plot's axis, and the number of its units per unit of the
  /// value; "" and 0 for values that are not plotted.
  const char *axis = "";
  double unit = 0;
  /// Whether the value belongs to a service: it is null in reports without
  /// requests.
  bool isOfRequests = false;

  /// The value as text, "-" for null.
  std::string textOf(const nlohmann::ordered_json &value) const {
    return value.is_null() ? "-" : text(value);
  }
};

/// All columns: first those of the question, then those of the answer.
const std::vector<ReportColumn> &reportColumns();
/// The index of the column `key`, which must exist.
size_t reportColumn(std::string_view key);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_REPORTCOLUMNS_H
