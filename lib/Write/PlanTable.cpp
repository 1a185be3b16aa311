//===- PlanTable.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Json.h"
#include "autopar/Write/Text.h"

#include "Json/JsonParts.h"

#include "autopar/Report/PlanTable.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/Phrases.h"
#include "autopar/Write/ReportColumns.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;

using Rows = std::vector<PlanTableRow>;

namespace {

/// A column of the table. The texts "" and "-" are empty cells.
struct Column {
  const char *head;
  char alignment;
  std::function<std::string(const PlanTableRow &row)> cell;
};

/// Returns the model, with the format if the user gave it together with the
/// name: "qwen3-8b:fp8".
std::string modelOf(const PlanTableRow &row) {
  if (!row.report)
    return row.model;
  size_t colon = row.model.rfind(':');
  bool hasFormat = colon != std::string::npos &&
                   row.model.find('/', colon) == std::string::npos;
  return row.report->model.name + (hasFormat ? row.model.substr(colon) : "");
}

std::string hardwareOf(const PlanTableRow &row) {
  if (!row.report)
    return row.hardware;
  const auto &machine = row.report->machine;
  return machine.hardware +
         (machine.nodes == 1 ? "" : " x " + std::to_string(machine.nodes));
}

/// Returns the plan as the user wrote it; if there is none, the mesh.
std::string planOf(const PlanTableRow &row) {
  return !row.plan.empty() || !row.report ? row.plan : meshLine(*row.report);
}

const std::vector<Column> &nameColumns() {
  static const std::vector<Column> columns = {{"model", 'l', modelOf},
                                              {"machine", 'l', hardwareOf},
                                              {"plan", 'l', planOf}};
  return columns;
}

/// The keys of the columns that show results of steps.
constexpr const char *numbers[] = {
    "devices",         "fits",         "total_bytes", "step_time_us",
    "bound",           "tokens_per_s", "sequences",   "usd_per_million_tokens",
    "joules_per_token"};
/// The keys of the columns that show results of services.
constexpr const char *servedNumbers[] = {"devices",
                                         "fits",
                                         "total_bytes",
                                         "ttft_us",
                                         "p99_ttft_us",
                                         "tpot_us",
                                         "tokens_per_s",
                                         "share_within_limits",
                                         "saturates_at_per_s",
                                         "usd_per_million_tokens"};

bool isServed(const PlanTableRow &row) {
  return row.report && row.report->serving;
}

Column numberColumn(const char *key) {
  const ReportColumn &column = reportColumns()[reportColumn(key)];
  return {column.head, column.alignment, [&column](const PlanTableRow &row) {
            return row.report ? column.textOf(column.value(*row.report)) : "-";
          }};
}

/// Returns whether all rows that have a cell in this column have the same cell.
bool isUniform(const Column &column, const Rows &rows) {
  std::set<std::string> cells;
  for (const PlanTableRow &row : rows)
    cells.insert(column.cell(row));
  cells.erase("");
  return cells.size() < 2;
}

std::vector<Column> columnsOf(const Rows &rows) {
  std::vector<Column> columns;
  for (const Column &column : nameColumns())
    if (!isUniform(column, rows))
      columns.push_back(column);
  if (columns.empty())
    columns.push_back(nameColumns().back());
  bool areServed = std::any_of(rows.begin(), rows.end(), isServed);
  std::vector<const char *> keys(std::begin(numbers), std::end(numbers));
  if (areServed)
    keys.assign(std::begin(servedNumbers), std::end(servedNumbers));
  for (const char *key : keys) {
    Column column = numberColumn(key);
    bool saysNothing =
        std::all_of(rows.begin(), rows.end(), [&](const PlanTableRow &row) {
          return column.cell(row) == "-";
        });
    if (!saysNothing)
      columns.push_back(std::move(column));
  }
  return columns;
}

std::string headOf(const Rows &rows) {
  auto first = std::find_if(rows.begin(), rows.end(),
                            [](const auto &row) { return !!row.report; });
  if (first == rows.end())
    return "";
  std::string head;
  for (const Column &column : nameColumns())
    if (isUniform(column, rows))
      head += (head.empty() ? "" : ", ") + column.cell(*first);
  const Report &report = *first->report;
  std::string what =
      report.serving ? serviceText(*report.serving) : stepText(report);
  return wrapText("", what + (head.empty() ? "" : ": " + head));
}

std::string refusalsOf(const Rows &rows) {
  std::string text;
  for (const PlanTableRow &row : rows) {
    if (row.report)
      continue;
    std::string name = row.model;
    for (const std::string &part : {row.hardware, row.plan})
      name += part.empty() ? "" : " " + part;
    text += wrapText("  ", "! " + name + ": " + row.refusal);
  }
  return text.empty() ? "" : "\nRefused\n" + text;
}

bool fits(const PlanTableRow &row) {
  return row.report && row.report->memory.perDevice.fits;
}

/// Returns the machines of rows that fit in memory but have no price.
std::vector<std::string> unpricedOf(const Rows &rows) {
  std::set<std::string> machines;
  for (const PlanTableRow &row : rows)
    if (fits(row) && !row.report->cost.dollarsPerMillionTokens)
      machines.insert(hardwareOf(row));
  return {machines.begin(), machines.end()};
}

/// Returns a line about the cheapest and the fastest row, for tables of steps.
std::string bestOf(const Rows &rows) {
  // The results of services take several columns, so that no row is the best
  // one.
  if (std::any_of(rows.begin(), rows.end(), isServed))
    return "";
  const PlanTableRow *fastest = nullptr, *cheapest = nullptr;
  for (const PlanTableRow &row : rows) {
    if (!fits(row))
      continue;
    if (!fastest || row.report->tokensPerS > fastest->report->tokensPerS)
      fastest = &row;
    const auto &dollars = row.report->cost.dollarsPerMillionTokens;
    if (dollars && (!cheapest ||
                    *dollars < *cheapest->report->cost.dollarsPerMillionTokens))
      cheapest = &row;
  }
  auto nameOf = [&](const PlanTableRow &row) {
    std::vector<std::string> parts;
    for (const Column &column : nameColumns())
      if (!isUniform(column, rows))
        parts.push_back(column.cell(row));
    return join(parts, ", ");
  };
  if (!fastest || nameOf(*fastest).empty())
    return "";
  std::string text = "most tokens/s: " + nameOf(*fastest);
  if (cheapest)
    text += "; cheapest tokens: " + nameOf(*cheapest);
  if (std::vector<std::string> machines = unpricedOf(rows);
      cheapest && !machines.empty())
    text += " (no price is known for " + join(machines, ", ") +
            ": --price gives one)";
  return wrapText("  ", text);
}

} // namespace

std::string autopar::writing::writeText(const Rows &rows) {
  std::vector<Column> columns = columnsOf(rows);
  std::string alignment;
  std::vector<std::string> head;
  for (const Column &column : columns) {
    alignment += column.alignment;
    head.emplace_back(column.head);
  }
  bool isNarrow = textWidth() < TextStyle().width;
  TextTable table(alignment, isNarrow ? textWidth() : uncut);
  table.add(head);
  for (const PlanTableRow &row : rows) {
    std::vector<std::string> cells;
    for (const Column &column : columns)
      cells.push_back(column.cell(row));
    table.add(std::move(cells));
  }
  return headOf(rows) + "\n" + table.str() + bestOf(rows) + refusalsOf(rows);
}

std::string autopar::writing::writeJson(const Rows &rows) {
  nlohmann::ordered_json root, all = nlohmann::ordered_json::array();
  root["schema"] = "autopar.table/1";
  for (const PlanTableRow &row : rows) {
    nlohmann::ordered_json &one = all.emplace_back();
    one = {
        {"model", modelOf(row)},
        {"hardware", row.report ? row.report->machine.hardware : row.hardware},
        {"plan", planOf(row)}};
    one["refusal"] = row.report ? nlohmann::ordered_json()
                                : nlohmann::ordered_json(row.refusal);
    one["report"] =
        row.report ? writeTree(*row.report) : nlohmann::ordered_json();
  }
  root["rows"] = std::move(all);
  return printJson(root);
}
