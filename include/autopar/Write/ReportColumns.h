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

/// Something that reports say, as a column of tables: numbers as the JSON
/// report has them, and as text.
struct ReportColumn {
  /// With its unit, as in the JSON report; and as the head of a text table.
  const char *key, *head;
  /// Of `TextTable`.
  char alignment;
  /// Null where a report does not say it.
  nlohmann::ordered_json (*value)(const report::Report &report);
  /// Of a value that is not null.
  std::string (*text)(const nlohmann::ordered_json &value);
  /// Of the axis of a plot, and the value's unit in that one; "" and 0 of what
  /// is not drawn.
  const char *axis = "";
  double unit = 0;
  /// Of a service: null of every report without requests.
  bool isOfRequests = false;

  /// "-" of null.
  std::string textOf(const nlohmann::ordered_json &value) const {
    return value.is_null() ? "-" : text(value);
  }
};

/// All of them: first what was run, then what came of it.
const std::vector<ReportColumn> &reportColumns();
/// The place of the one called `key`, which there must be.
size_t reportColumn(std::string_view key);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_REPORTCOLUMNS_H
