//===- ServingTable.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Calibrate/Measurements.h"

#include "autopar/Support/Text.h"

#include <cmath>

using namespace autopar;
using namespace autopar::calibration;

namespace {

/// A column of `autopar validate`, the fact of forms that it has, and the flag
/// that states it; "" for facts that only files have.
struct ServedColumn {
  const char *column, *fact, *flag;
  bool isNeeded = false, isWhole = false;
};

} // namespace

static constexpr ServedColumn servedColumns[] = {
    {"model_path", "model", "--model", true},
    {"system", "hardware", "--hardware", true},
    {"backend", "engine", "--runtime", true},
    {"backend_version", "engine_version", ""},
    {"precision", "precision", "--fact=precision=..."},
    {"kvcache_quant_mode", "kv_format", "--fact=kv_format=..."},
    {"isl", "input_tokens", "--fact=input_tokens=...", true, true},
    {"osl", "output_tokens", "--fact=output_tokens=...", true, true},
    {"batch_size", "concurrency", "--fact=concurrency=...", true, true},
    {"tp_size", "tp", "--fact=tp=...", true, true},
    {"attention_dp_size", "dp", "--fact=dp=...", false, true},
    {"moe_ep_size", "ep", "--fact=ep=...", false, true},
    {"rounds", "rounds", "", false, true},
    {"silicon_ttft_ms", "ttft_ms", ""},
    {"silicon_tpot_ms", "tpot_ms", ""},
};

std::string calibration::factOf(const MeasuredRun &run,
                                const StatedFacts &stated,
                                const std::string &fact, bool isWhole) {
  if (auto given = stated.find(fact); given != stated.end())
    return given->second;
  if (std::optional<double> number = run.number(fact))
    return formatNumber(isWhole ? std::round(*number) : *number);
  auto text = run.texts.find(fact);
  return text == run.texts.end() ? "" : text->second;
}

Error calibration::lacksFact(const MeasuredRun &run, const std::string &fact,
                             const std::string &flag) {
  return {run.where, "does not say its " + fact, flag + " states it"};
}

Result<std::optional<DataTable>>
calibration::servingTable(const std::vector<MeasuredFile> &files,
                          const StatedFacts &stated) {
  std::vector<std::string> head = {"id", "lengths"};
  for (const ServedColumn &column : servedColumns)
    head.emplace_back(column.column);
  Result<DataTable> table = DataTable::create("the measurements", head, "");
  if (!table)
    return table.error();
  size_t line = 0;
  for (const MeasuredFile &file : files) {
    if (file.kind != "served")
      continue;
    for (const MeasuredRun &run : file.runs) {
      DataTable::Row row{++line, {run.where, "mean"}};
      for (const ServedColumn &column : servedColumns) {
        std::string cell = factOf(run, stated, column.fact, column.isWhole);
        if (cell.empty() && column.isNeeded)
          return lacksFact(run, column.fact, column.flag);
        row.cells.push_back(std::move(cell));
      }
      if (Result<bool> added = table->add(std::move(row)); !added)
        return added.error();
    }
  }
  if (table->rows().empty())
    return std::optional<DataTable>();
  return std::optional<DataTable>(std::move(*table));
}
