//===- ServingRows.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/ServingRows.h"

#include "RowReader.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

bool ServedDegrees::operator==(const ServedDegrees &other) const {
  return tp == other.tp && pp == other.pp && attentionDp == other.attentionDp &&
         expertTp == other.expertTp && ep == other.ep;
}

static const std::vector<std::string> &neededColumns() {
  static const std::vector<std::string> columns = {"backend", "model_path",
                                                   "system", "isl", "osl"};
  return columns;
}

const std::vector<std::string> &autopar::validation::servingColumns() {
  static const std::vector<std::string> columns = [] {
    std::vector<std::string> all = neededColumns();
    for (const char *more :
         {"id", "silicon_data_source", "backend_version", "precision", "mode",
          "gemm_quant_mode", "moe_quant_mode", "kvcache_quant_mode",
          "batch_size", "rounds", "lengths", "silicon_ttft_ms",
          "silicon_tpot_ms"})
      all.emplace_back(more);
    for (std::string pool : {"", "prefill_", "decode_"})
      for (const char *degree : {"tp_size", "pp_size", "attention_dp_size",
                                 "moe_tp_size", "moe_ep_size"})
        all.push_back(pool + degree);
    for (std::string pool : {"prefill_", "decode_"})
      for (const char *more : {"batch_size", "num_workers"})
        all.push_back(pool + more);
    return all;
  }();
  return columns;
}

static std::string trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return "";
  return std::string(
      text.substr(first, text.find_last_not_of(" \t") + 1 - first));
}

/// "db-dump; measured=2026-02-05; config_id=3" -> its pairs.
static std::map<std::string, std::string> fieldsOf(std::string_view source) {
  std::map<std::string, std::string> fields;
  while (!source.empty()) {
    size_t end = std::min(source.find(';'), source.size());
    std::string_view part = source.substr(0, end);
    size_t equals = part.find('=');
    if (equals != std::string_view::npos)
      fields.emplace(trimmed(part.substr(0, equals)),
                     trimmed(part.substr(equals + 1)));
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return fields;
}

/// Degrees of the columns that begin with `pool`. 0 stands for none.
static ServedDegrees readDegrees(RowReader &reader, const std::string &pool) {
  auto degree = [&](const char *column) {
    return std::max<int64_t>(
        reader.integer(pool + column, 0, maxDegree).value_or(1), 1);
  };
  ServedDegrees degrees;
  degrees.tp = reader.need(pool + "tp_size", 1, maxDegree);
  degrees.pp = degree("pp_size");
  degrees.attentionDpStated = !reader.text(pool + "attention_dp_size").empty();
  degrees.attentionDp = degree("attention_dp_size");
  degrees.expertTp = degree("moe_tp_size");
  degrees.ep = degree("moe_ep_size");
  // Where nothing is said of experts, they are split as dense layers.
  if (reader.text(pool + "moe_tp_size").empty() &&
      reader.text(pool + "moe_ep_size").empty())
    degrees.expertTp = degrees.tp;
  if (degrees.devices() > limits::maxDevices)
    reader.fail(pool + "tp_size x pp_size x attention_dp_size: more than " +
                formatInteger(limits::maxDevices) + " devices");
  return degrees;
}

static ServedPool readPool(RowReader &reader, const std::string &pool) {
  ServedPool read;
  read.degrees = readDegrees(reader, pool);
  read.workers = reader.integer(pool + "num_workers", 0, maxDegree).value_or(0);
  read.batchSize = reader.integer(pool + "batch_size", 1, limits::maxDevices);
  return read;
}

/// Concurrency of a disaggregated row: stated by its source, else the capacity
/// of its decode workers.
static int64_t concurrencyOf(RowReader &reader, const ServingRow &row) {
  if (std::optional<int64_t> stated =
          reader.integer("batch_size", 1, limits::maxTokens))
    return *stated;
  auto found = row.sourceFields.find("silicon_concurrency");
  if (found != row.sourceFields.end()) {
    int64_t value = 0;
    for (char digit : found->second)
      value = digit >= '0' && digit <= '9' && value < limits::maxTokens
                  ? value * 10 + (digit - '0')
                  : limits::maxTokens + 1;
    if (value > 0 && value <= limits::maxTokens)
      return value;
  }
  if (row.decode && row.decode->batchSize && row.decode->workers)
    if (std::optional<int64_t> held =
            (Checked(*row.decode->batchSize) * row.decode->degrees.attentionDp *
             row.decode->workers)
                .int64();
        held && *held <= limits::maxTokens)
      return *held;
  reader.fail("batch_size: expected the number of requests at once, found "
              "nothing");
  return 1;
}

/// Reads the deployment and the concurrency.
static void readDeployment(RowReader &reader, ServingRow &row) {
  std::string mode = reader.text("mode");
  if (mode == "disagg") {
    row.prefill = readPool(reader, "prefill_");
    row.decode = readPool(reader, "decode_");
    row.concurrency = concurrencyOf(reader, row);
  } else if (mode.empty() || mode == "agg") {
    row.degrees = readDegrees(reader, "");
    row.concurrency = reader.need("batch_size", 1, limits::maxTokens);
  } else {
    reader.fail(R"(mode: expected "agg" or "disagg", found ")" + shorten(mode) +
                "\"");
  }
}

static ServingRow readRow(RowReader &reader, size_t line) {
  ServingRow row;
  row.line = line;
  row.id = reader.id();
  row.source = reader.text("silicon_data_source");
  row.sourceFields = fieldsOf(row.source);
  row.runtime = reader.text("backend");
  row.runtimeVersion = reader.text("backend_version");
  row.model = reader.text("model_path");
  row.system = reader.text("system");
  row.precision = reader.text("precision");
  row.denseFormat = reader.text("gemm_quant_mode");
  row.expertFormat = reader.text("moe_quant_mode");
  row.kvFormat = reader.text("kvcache_quant_mode");
  row.inputTokens = reader.need("isl", 1, limits::maxTokens);
  row.outputTokens = reader.need("osl", 1, limits::maxTokens);
  readDeployment(reader, row);
  row.rounds = reader.integer("rounds", 1, limits::maxTokens);
  std::string lengths = reader.text("lengths");
  row.areLengthsMeans = lengths == "mean";
  if (!lengths.empty() && lengths != "mean" && lengths != "nominal")
    reader.fail(R"(lengths: expected "mean" or "nominal", found ")" +
                shorten(lengths) + "\"");
  row.ttftMs = reader.positive("silicon_ttft_ms");
  row.tpotMs = reader.positive("silicon_tpot_ms");
  return row;
}

/// Names the needed columns that `table` does not have.
static std::optional<Error> checkColumns(const DataTable &table) {
  std::vector<std::string> missing = absentColumns(table, neededColumns());
  for (const char *column : {"tp_size", "batch_size"})
    if (!table.has(column) && !table.has(std::string("decode_") + column))
      missing.emplace_back(column);
  if (!table.has("silicon_ttft_ms") && !table.has("silicon_tpot_ms"))
    missing.emplace_back("silicon_tpot_ms");
  if (missing.empty())
    return std::nullopt;
  return Error{table.name(),
               "no column for " + join(missing, ", ") + "; the table has " +
                   join(table.columns(), ", "),
               "--columns=FILE says what your columns are called: "
               "{\"schema\": \"autopar.columns/1\", \"columns\": {\"" +
                   missing.front() + "\": \"...\"}}"};
}

Result<ServingRows>
autopar::validation::readServingRows(const DataTable &table) {
  if (std::optional<Error> error = checkColumns(table))
    return *error;
  ServingRows read;
  for (const DataTable::Row &row : table.rows()) {
    RowReader reader(table, row);
    ServingRow served = readRow(reader, row.line);
    if (reader.error())
      read.unreadable.push_back(*reader.error());
    else
      read.rows.push_back(std::move(served));
  }
  return read;
}
