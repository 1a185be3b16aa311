//===- SweepJson.cpp - autopar.sweep/1 and tables -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SweepParts.h"

#include "autopar/Support/CsvText.h"
#include "autopar/Support/JsonText.h"
#include "autopar/Support/Text.h"
#include "autopar/Write/ReportColumns.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::sweep;
using namespace autopar::writing;

using Json = nlohmann::ordered_json;

static Json writeRow(const SweepReport &report, const SweepRow &row) {
  Json values = Json::object(), result = Json::object();
  for (size_t i = 0; i < report.axes.size(); ++i)
    values[report.axes[i].name] = report.axes[i].values[row.point[i]];
  for (size_t i = 0; i < row.cells.size(); ++i)
    if (!reportColumns()[i].isOfRequests || !row.cells[i].is_null())
      result[reportColumns()[i].key] = row.cells[i];
  bool isRefused = row.isRefused();
  return {{"values", std::move(values)},
          {"plan", isRefused ? Json() : Json(row.plan)},
          {"refusal", isRefused ? Json(row.refusal) : Json()},
          {"result", isRefused ? Json() : std::move(result)}};
}

std::string autopar::sweep::writeJson(const SweepReport &report) {
  Json root;
  root["schema"] = "autopar.sweep/1";
  root["model"] = report.model;
  root["goal"] = report.goal ? Json(*report.goal) : Json();
  root["complete"] = report.complete;
  root["axes"] = Json::array();
  for (const SweepAxis &axis : report.axes)
    root["axes"].push_back({{"name", axis.name}, {"values", axis.values}});
  root["rows"] = Json::array();
  for (const SweepRow &row : report.rows)
    root["rows"].push_back(writeRow(report, row));
  return printJson(root);
}

//===----------------------------------------------------------------------===//
// Rows as CSV
//===----------------------------------------------------------------------===//

/// Returns a cell of CSV. Its numbers have the same digits as in the JSON
/// report.
static std::string cellOf(const Json &value) {
  return value.is_null()     ? ""
         : value.is_string() ? csvCell(value.get<std::string>())
                             : value.dump();
}

/// Returns the columns that are no axes of the sweep.
static std::vector<size_t> otherColumns(const SweepReport &report) {
  std::vector<size_t> others;
  bool areServed = hasRequests(report);
  for (size_t i = 0; i < reportColumns().size(); ++i)
    if ((areServed || !reportColumns()[i].isOfRequests) &&
        std::none_of(report.axes.begin(), report.axes.end(),
                     [&](const SweepAxis &axis) {
                       return axis.name == reportColumns()[i].key;
                     }))
      others.push_back(i);
  return others;
}

std::string autopar::sweep::writeCsv(const SweepReport &report) {
  std::vector<size_t> others = otherColumns(report);
  std::vector<std::string> head;
  for (const SweepAxis &axis : report.axes)
    head.push_back(csvCell(axis.name));
  head.emplace_back("plan");
  for (size_t column : others)
    head.emplace_back(reportColumns()[column].key);
  std::string text = join(head, ",") + ",refusal\n";
  for (const SweepRow &row : report.rows) {
    for (size_t i = 0; i < report.axes.size(); ++i)
      text += cellOf(report.axes[i].values[row.point[i]]) + ",";
    text += csvCell(row.plan);
    for (size_t column : others)
      text += "," + (row.isRefused() ? "" : cellOf(row.cells[column]));
    text += "," + csvCell(row.refusal) + "\n";
  }
  return text;
}
