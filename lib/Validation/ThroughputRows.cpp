//===- ThroughputRows.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/ThroughputRows.h"

#include "LoggedRow.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Validation/Names.h"

#include <cstdlib>

using namespace autopar;
using namespace autopar::validation;

const std::vector<std::string> &autopar::validation::throughputColumns() {
  static const std::vector<std::string> columns = {
      "id",       "model", "hardware", "framework", "comparable",
      "quant",    "tp",    "pp",       "dp",        "ep",
      "kv_dtype", "isl",   "osl",      "batch",     "tokens_per_s_out",
      "pre_xqa"};
  return columns;
}

/// Tables of served requests may have a rate beside their times.
bool autopar::validation::hasThroughput(const DataTable &table) {
  return table.has("tokens_per_s_out") && !table.has("silicon_tpot_ms") &&
         !table.has("silicon_ttft_ms");
}

static ThroughputKind kindOf(const std::string &comparable) {
  if (comparable == "static")
    return ThroughputKind::static_batch;
  return comparable.rfind("in-flight", 0) == 0 ? ThroughputKind::in_flight
                                               : ThroughputKind::other;
}

/// In-flight batching before 0.17 was another engine's.
static bool isOldEngine(const std::string &framework) {
  std::string version = resolveRuntime(framework).version;
  char *rest = nullptr;
  long major = std::strtol(version.c_str(), &rest, 10);
  long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return !version.empty() && major == 0 && minor < 17;
}

static ThroughputRow readRow(RowReader &reader) {
  ThroughputRow read;
  ServingRow &row = read.row;
  row = readLoggedRow(reader, "quant");
  row.inputTokens = reader.need("isl", 1, limits::maxTokens);
  row.outputTokens = reader.need("osl", 1, limits::maxTokens);
  read.kind = kindOf(reader.text("comparable"));
  read.batch = reader.integer("batch", 1, limits::maxTokens).value_or(0);
  read.tokensPerSecond = reader.positive("tokens_per_s_out").value_or(0);
  bool isBefore = reader.text("pre_xqa") == "true";
  read.isOld = isBefore || (read.kind == ThroughputKind::in_flight &&
                            isOldEngine(row.runtime));
  return read;
}

Result<ThroughputRows>
autopar::validation::readThroughputRows(const DataTable &table) {
  if (auto absent = checkColumns(
          table, {"model", "hardware", "framework", "comparable", "isl", "osl"},
          "throughput"))
    return *absent;
  ThroughputRows read;
  for (const DataTable::Row &line : table.rows()) {
    RowReader reader(table, line);
    if (kindOf(reader.text("comparable")) == ThroughputKind::other ||
        !numberIn(reader.text("tokens_per_s_out"))) {
      ++read.others;
      continue;
    }
    ThroughputRow row = readRow(reader);
    row.row.line = line.line;
    if (row.kind == ThroughputKind::static_batch && row.batch == 0)
      reader.fail("a static batch without its size: column batch is empty");
    if (reader.error())
      read.unreadable.push_back(*reader.error());
    else
      read.rows.push_back(std::move(row));
  }
  return read;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::vector<ErrorSection> autopar::validation::throughputSections(
    const std::vector<ThroughputRow> &rows) {
  std::vector<ErrorSection> sections;
  auto add = [&](const char *name, const char *title, auto belongs) {
    std::vector<const ThroughputRow *> chosen;
    std::vector<MeasuredPoint> points;
    for (const ThroughputRow &row : rows)
      if (belongs(row)) {
        chosen.push_back(&row);
        points.push_back(
            {row.tokensPerSecond, row.predicted, row.row.id, row.row.model});
      }
    if (points.empty())
      return;
    ErrorSection section(name, title, "tokens/s", std::move(points));
    auto by = [&](const char *what, auto textOf) {
      section.tables.push_back(errorTable(what, section.points, [&](size_t i) {
        return GroupKey{textOf(chosen[i]->row)};
      }));
    };
    by("model", [](const ServingRow &row) { return row.model; });
    by("system", [](const ServingRow &row) { return row.system; });
    by("format", [](const ServingRow &row) { return row.precision; });
    section.tables.push_back(
        errorTable("length", section.points, [&](size_t i) {
          const ServingRow &row = chosen[i]->row;
          return lengthBucket(row.inputTokens, row.outputTokens);
        }));
    sections.push_back(std::move(section));
  };
  using Kind = ThroughputKind;
  add("throughput_static", "Throughput of static batches",
      [](const ThroughputRow &row) {
        return !row.isOld && row.kind == Kind::static_batch;
      });
  add("throughput_in_flight", "Throughput of engines that are never idle",
      [](const ThroughputRow &row) {
        return !row.isOld && row.kind == Kind::in_flight;
      });
  add("throughput_old", "Throughput, apart: older engines",
      [](const ThroughputRow &row) { return row.isOld; });
  return sections;
}
