//===- SweepText.cpp - A sweep on a terminal ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SweepParts.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/ReportColumns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::sweep;
using namespace autopar::writing;

//===----------------------------------------------------------------------===//
// Choosing the columns of the table
//===----------------------------------------------------------------------===//

namespace {

struct Column {
  std::string head;
  char alignment;
  std::function<std::string(const SweepRow &row)> cell;
};

/// The columns of the question (`settings`) and of the answer (`results`), by
/// their keys in `reportColumns`.
constexpr const char *settings[] = {"phase",   "batch",    "prompt", "context",
                                    "devices", "hardware", "runtime"};
constexpr std::string_view budget = "budget_bytes";
constexpr std::string_view results[] = {
    "step_time_us",    "tokens_per_s", "tokens_per_s_per_device",
    "total_bytes",     "budget_bytes", "fits",
    "bound",           "sequences",    "usd_per_million_tokens",
    "joules_per_token"};
constexpr std::string_view servedResults[] = {"requests_per_s",
                                              "ttft_us",
                                              "p99_ttft_us",
                                              "tpot_us",
                                              "share_within_limits",
                                              "saturates_at_per_s",
                                              "tokens_per_s",
                                              "tokens_per_s_per_device",
                                              "total_bytes",
                                              "budget_bytes",
                                              "fits",
                                              "usd_per_million_tokens"};

/// For services, these columns follow from their loads.
constexpr std::string_view stepSettings[] = {"phase", "batch", "context"};

} // namespace

static Column columnOf(std::string_view key) {
  size_t at = reportColumn(key);
  const ReportColumn &column = reportColumns()[at];
  return {column.head, column.alignment, [at, &column](const SweepRow &row) {
            return row.isRefused() ? "-" : column.textOf(row.cells[at]);
          }};
}

static Column planColumn() {
  return {"plan", 'l',
          [](const SweepRow &row) { return row.isRefused() ? "-" : row.plan; }};
}

/// Returns the distinct texts that a column has in rows that were not refused.
static std::set<std::string> textsOf(const SweepReport &report,
                                     const Column &column) {
  std::set<std::string> texts;
  for (const SweepRow &row : report.rows)
    if (!row.isRefused())
      texts.insert(column.cell(row));
  return texts;
}

/// Returns whether the cached tokens differ from those of the prompt in any
/// row.
static bool hasContext(const SweepReport &report) {
  size_t prompt = reportColumn("prompt"), context = reportColumn("context");
  return std::any_of(
      report.rows.begin(), report.rows.end(), [&](const SweepRow &row) {
        return !row.isRefused() && row.cells[prompt] != row.cells[context];
      });
}

/// Returns those settings that no axis of the sweep sets, and that have the
/// same value in all rows (`isUniform`) or not. The first stand above the
/// table, the second in it.
static std::vector<std::string> settingsOf(const SweepReport &report,
                                           bool isUniform) {
  std::vector<std::string> keys;
  bool areServed = hasRequests(report);
  for (std::string key : settings) {
    bool isOfStep = std::find(std::begin(stepSettings), std::end(stepSettings),
                              key) != std::end(stepSettings);
    if (areServed && isOfStep)
      continue;
    size_t count = textsOf(report, columnOf(key)).size();
    if (!varyingAxis(report, key) && count > 0 && (count == 1) == isUniform &&
        (key != "context" || hasContext(report)))
      keys.push_back(std::move(key));
  }
  return keys;
}

static std::vector<Column> columnsOf(const SweepReport &report) {
  std::vector<Column> columns;
  for (size_t i = 0; i < report.axes.size(); ++i)
    if (const SweepAxis &axis = report.axes[i]; axis.varies())
      columns.push_back({shortName(report, axis), axis.isNumber() ? 'r' : 'l',
                         [i, &axis](const SweepRow &row) {
                           return axis.text(row.point[i]);
                         }});
  for (const std::string &key : settingsOf(report, /*isUniform=*/false))
    columns.push_back(columnOf(key));
  if (textsOf(report, planColumn()).size() > 1)
    columns.push_back(planColumn());
  bool isOneDevice =
      textsOf(report, columnOf("devices")) == std::set<std::string>{"1"};
  std::vector<std::string_view> keys(std::begin(results), std::end(results));
  if (hasRequests(report))
    keys.assign(std::begin(servedResults), std::end(servedResults));
  for (std::string_view key : keys) {
    Column column = columnOf(key);
    std::set<std::string> texts = textsOf(report, column);
    bool saysNothing = texts == std::set<std::string>{"-"} ||
                       (isOneDevice && key == "tokens_per_s_per_device") ||
                       (texts.size() < 2 && key == budget);
    if (!saysNothing)
      columns.push_back(std::move(column));
  }
  return columns;
}

//===----------------------------------------------------------------------===//
// The table, and the lines above and below it
//===----------------------------------------------------------------------===//

std::string autopar::sweep::headText(const SweepReport &report) {
  std::vector<std::string> parts;
  auto add = [&](const Column &column) {
    std::set<std::string> texts = textsOf(report, column);
    bool isNews = texts.size() == 1 && *texts.begin() != "-" &&
                  *texts.begin() != "1 device";
    if (isNews)
      parts.push_back((column.alignment == 'r' ? column.head + " " : "") +
                      *texts.begin());
  };
  for (const std::string &key : settingsOf(report, /*isUniform=*/true))
    add(columnOf(key));
  for (const SweepAxis &axis : report.axes)
    if (!axis.varies() && axis.name.find('.') != std::string::npos)
      parts.push_back(axis.name + " " + axis.text(0));
  add(planColumn());
  add(columnOf(budget));
  return report.model + (parts.empty() ? "" : ": " + join(parts, ", "));
}

/// Returns the table; "" if all rows were refused.
static std::string tableText(const SweepReport &report) {
  if (std::all_of(report.rows.begin(), report.rows.end(),
                  [](const SweepRow &row) { return row.isRefused(); }))
    return "";
  std::vector<Column> columns = columnsOf(report);
  std::string alignment;
  std::vector<std::string> head;
  for (const Column &column : columns) {
    alignment += column.alignment;
    head.push_back(column.head);
  }
  bool isNarrow = textWidth() < TextStyle().width;
  TextTable table(alignment, isNarrow ? textWidth() : uncut);
  table.add(head);
  for (const SweepRow &row : report.rows) {
    std::vector<std::string> cells;
    for (const Column &column : columns)
      cells.push_back(column.cell(row));
    table.add(std::move(cells));
  }
  return table.str();
}

/// Returns the row that fits and has the largest or the smallest value in
/// column `key`.
static const SweepRow *bestOf(const SweepReport &report, std::string_view key,
                              bool isMost) {
  size_t at = reportColumn(key);
  const SweepRow *best = nullptr;
  for (const SweepRow &row : report.rows) {
    if (!row.fits() || row.cells[at].is_null())
      continue;
    double value = row.cells[at];
    if (!best || (isMost ? value > best->cells[at].get<double>()
                         : value < best->cells[at].get<double>()))
      best = &row;
  }
  return best;
}

/// Returns whether all rows that fit have a price of their tokens.
static bool isPricedThroughout(const SweepReport &report) {
  size_t at = reportColumn("usd_per_million_tokens");
  return std::all_of(report.rows.begin(), report.rows.end(),
                     [&](const SweepRow &row) {
                       return !row.fits() || !row.cells[at].is_null();
                     });
}

static std::string bestText(const SweepReport &report) {
  const SweepRow *fastest = bestOf(report, "tokens_per_s", /*isMost=*/true);
  if (!fastest || report.rows.size() < 2)
    return "";
  std::string text = "most tokens/s: " + nameOf(report, *fastest);
  if (const SweepRow *cheapest =
          bestOf(report, "usd_per_million_tokens", /*isMost=*/false))
    text += "; cheapest tokens: " + nameOf(report, *cheapest) +
            (isPricedThroughout(report) ? "" : " of those with a price");
  return wrapText("  ", text);
}

static std::string unfitText(const SweepReport &report) {
  auto count = std::count_if(
      report.rows.begin(), report.rows.end(),
      [](const SweepRow &row) { return !row.isRefused() && !row.fits(); });
  return count == 0
             ? ""
             : wrapText("  ", formatInteger(count) + " of " +
                                  countOf(report.rows.size(), "row") +
                                  (count == 1 ? " does" : " do") + " not fit");
}

/// Writes each reason for a refusal once, with the first row that it concerns.
static std::string refusalsText(const SweepReport &report) {
  std::vector<const SweepRow *> firsts;
  std::map<std::string, size_t> counts;
  for (const SweepRow &row : report.rows)
    if (row.isRefused() && counts[row.refusal]++ == 0)
      firsts.push_back(&row);
  std::string text;
  for (const SweepRow *row : firsts) {
    size_t others = counts[row->refusal] - 1;
    std::string name = nameOf(report, *row);
    text += wrapText(
        "  ", "! " + (name.empty() ? report.model : name) +
                  (others ? " and " + countOf(others, "other row") : "") +
                  ": " + row->refusal);
  }
  return text.empty() ? "" : "\nRefused\n" + text;
}

std::string autopar::sweep::writeText(const SweepReport &report) {
  std::string text = wrapText("", headText(report));
  if (report.goal)
    text += wrapText("  ", "the best plan of each row in " + *report.goal);
  std::string table = tableText(report);
  text += (table.empty() ? "" : "\n") + table + bestText(report) +
          unfitText(report) + refusalsText(report);
  if (!report.complete)
    text += "\n" + wrapText("", "Interrupted after " +
                                    countOf(report.rows.size(), "row"));
  return text;
}
