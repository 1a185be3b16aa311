//===- Fixtures.h - Measured rows beside the repository ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_VALIDATION_FIXTURES_H
#define AUTOPAR_TEST_UNIT_VALIDATION_FIXTURES_H

#include "autopar/Validation/ServingRows.h"
#include "autopar/Validation/TrainingRows.h"

#include <filesystem>

namespace autopar::test {

/// The folder of shared data `name`, which may be absent.
inline std::string sharedData(const std::string &name) {
  return (std::filesystem::path(AUTOPAR_SOURCE_DIR).parent_path() /
          "shared/data" / name)
      .string();
}

/// The rows of a table of serving measurements in CSV.
inline validation::ServingRows servingRowsOf(const std::string &csv) {
  Result<DataTable> table = parseCsvTable(csv, "t.csv");
  if (!table)
    return {{}, {table.error()}};
  Result<validation::ServingRows> rows = validation::readServingRows(*table);
  return rows ? std::move(*rows) : validation::ServingRows{{}, {rows.error()}};
}

/// A row that no rule objects to.
inline validation::ServingRow plainRow(std::string id = "r",
                                       int64_t concurrency = 8,
                                       double tpotMs = 10,
                                       double ttftMs = 100) {
  validation::ServingRow row;
  row.id = std::move(id);
  row.runtime = "vllm";
  row.model = "llama";
  row.system = "h100_sxm";
  row.inputTokens = row.outputTokens = 1000;
  row.concurrency = concurrency;
  row.tpotMs = tpotMs;
  row.ttftMs = ttftMs;
  return row;
}

/// The rows of a table of training in JSON.
inline validation::TrainingRows trainingRowsOf(const std::string &json) {
  Result<DataTable> table = parseJsonTable(json, "t.json");
  if (!table)
    return {{}, {table.error()}};
  Result<validation::TrainingRows> rows = validation::readTrainingRows(*table);
  return rows ? std::move(*rows) : validation::TrainingRows{{}, {rows.error()}};
}

/// The one row of `json`, an object.
inline validation::TrainingRow trainingRowOf(const std::string &json) {
  validation::TrainingRows read = trainingRowsOf("[" + json + "]");
  return read.rows.empty() ? validation::TrainingRow()
                           : std::move(read.rows.front());
}

/// A row that no rule objects to, with other cells where `changes` has them.
inline validation::TrainingRow plainTraining(const std::string &changes = "") {
  std::map<std::string, std::string> cells = {
      {"id", R"("r")"},
      {"model", R"("GPT-1B")"},
      {"arch", R"({"layers": 24, "hidden": 2048, "heads": 16, "ffn": 8192,
                   "gated": false, "vocab": 51200})"},
      {"hardware", R"("H100-SXM-80GB")"},
      {"n_gpus", "8"},
      {"tp", "2"},
      {"pp", "1"},
      {"seq", "2048"},
      {"gbs", "64"},
      {"mbs", "2"},
      {"recompute", R"("none")"},
      {"precision", R"("bf16")"},
      {"source", R"("test")"},
      {"iter_time_s", "4"}};
  std::string json = "{";
  for (const auto &[column, cell] : cells)
    if (changes.find("\"" + column + "\":") == std::string::npos)
      json += "\"" + column + "\": " + cell + ",";
  if (changes.empty())
    json.back() = '}';
  else
    json += changes + "}";
  return trainingRowOf(json);
}

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_VALIDATION_FIXTURES_H
