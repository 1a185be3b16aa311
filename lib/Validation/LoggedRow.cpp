//===- LoggedRow.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoggedRow.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

/// Attention is split as dense layers are, and experts over what `ep` leaves.
static ServedDegrees readDegrees(RowReader &reader) {
  auto degree = [&](const char *column) {
    return reader.integer(column, 1, maxDegree).value_or(1);
  };
  ServedDegrees degrees = {degree("tp"), degree("pp"), degree("dp"), 1,
                           degree("ep")};
  degrees.attentionDpStated = true;
  degrees.expertTp =
      std::max<int64_t>(1, degrees.devices() / degrees.pp / degrees.ep);
  return degrees;
}

ServingRow autopar::validation::readLoggedRow(RowReader &reader,
                                              const char *precision) {
  ServingRow row;
  row.id = reader.text("id");
  row.model = reader.text("model");
  row.system = reader.text("hardware");
  row.runtime = reader.text("framework");
  row.precision = reader.text(precision);
  row.kvFormat = reader.text("kv_dtype");
  row.degrees = readDegrees(reader);
  return row;
}

bool autopar::validation::isOfTraining(const RowReader &reader) {
  return !reader.text("recompute").empty() || !reader.text("gbs").empty() ||
         reader.text("framework").empty();
}

std::optional<Error>
autopar::validation::checkColumns(const DataTable &table,
                                  const std::vector<std::string> &needed,
                                  const std::string &what) {
  std::vector<std::string> absent = absentColumns(table, needed);
  if (absent.empty())
    return std::nullopt;
  return Error{table.name(), "no column for " + join(absent, ", "),
               "a table of " + what +
                   " needs them; --columns=FILE says what yours are called"};
}
