//===- MemoryRows.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/MemoryRows.h"

#include "LoggedRow.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Validation/Names.h"

using namespace autopar;
using namespace autopar::validation;

const std::vector<std::string> &autopar::validation::memoryColumns() {
  static const std::vector<std::string> columns = {"id",
                                                   "model",
                                                   "hardware",
                                                   "framework",
                                                   "dtype",
                                                   "kv_dtype",
                                                   "tp",
                                                   "pp",
                                                   "dp",
                                                   "ep",
                                                   "gpu_memory_utilization",
                                                   "mem_fraction_static",
                                                   "max_num_batched_tokens",
                                                   "max_model_len",
                                                   "weights_gib",
                                                   "activation_peak_gib",
                                                   "non_torch_gib",
                                                   "kv_pool_gib",
                                                   "kv_tokens"};
  return columns;
}

bool autopar::validation::hasEngineMemory(const DataTable &table) {
  for (const char *column :
       {"weights_gib", "weights_gb", "kv_pool_gib", "kv_pool_gb"})
    if (table.has(column))
      return true;
  return false;
}

/// The number before "GiB" of a note: 79.19 of "H100-SXM (79.19 GiB physical)".
static std::optional<double> notedGiB(const std::string &hardware) {
  size_t unit = hardware.find(" GiB");
  if (unit == std::string::npos)
    return std::nullopt;
  size_t open = hardware.rfind('(', unit);
  if (open == std::string::npos)
    return std::nullopt;
  constexpr double most = 1e6;
  std::optional<double> memory =
      numberIn(hardware.substr(open + 1, unit - open - 1));
  return memory && *memory > 0 && *memory < most ? memory : std::nullopt;
}

/// Old engines print GB and divide by 2^30.
static EngineMemory readMeasured(RowReader &reader) {
  EngineMemory memory;
  auto either = [&](const char *column, const char *other) {
    std::optional<double> value = reader.positive(column);
    return value ? value : reader.positive(other);
  };
  memory.weightsGiB = either("weights_gib", "weights_gb");
  memory.temporariesGiB = reader.positive("activation_peak_gib");
  memory.runtimeGiB = reader.positive("non_torch_gib");
  memory.kvPoolGiB = either("kv_pool_gib", "kv_pool_gb");
  memory.kvTokens = reader.positive("kv_tokens");
  return memory;
}

static MemoryRow readRow(RowReader &reader) {
  MemoryRow read;
  read.row = readLoggedRow(reader, "dtype");
  read.memoryUtilization = reader.positive("gpu_memory_utilization");
  if (!read.memoryUtilization)
    read.memoryUtilization = reader.positive("mem_fraction_static");
  if (read.memoryUtilization && *read.memoryUtilization > 1)
    reader.fail("a share of memory above 1: " +
                formatNumber(*read.memoryUtilization));
  read.stepTokens =
      reader.integer("max_num_batched_tokens", 1, limits::maxTokens);
  read.sequenceTokens = reader.integer("max_model_len", 1, limits::maxTokens);
  read.measured = readMeasured(reader);
  if (auto memory = notedGiB(read.row.system); memory && read.memoryUtilization)
    read.measured.budgetGiB = *memory * *read.memoryUtilization;
  return read;
}

Result<MemoryRows> autopar::validation::readMemoryRows(const DataTable &table) {
  if (auto absent =
          checkColumns(table, {"model", "hardware", "framework"}, "memory"))
    return *absent;
  MemoryRows read;
  for (const DataTable::Row &line : table.rows()) {
    RowReader reader(table, line);
    if (isOfTraining(reader))
      continue;
    MemoryRow row = readRow(reader);
    row.row.line = line.line;
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

static std::optional<double> sumOfParts(const EngineMemory &memory) {
  double sum = 0;
  for (const auto &part : {memory.weightsGiB, memory.temporariesGiB,
                           memory.runtimeGiB, memory.kvPoolGiB}) {
    if (!part)
      return std::nullopt;
    sum += *part;
  }
  return sum;
}

std::vector<ErrorSection>
autopar::validation::memorySections(const std::vector<MemoryRow> &rows) {
  std::vector<ErrorSection> sections;
  auto add = [&](const char *name, const char *title, const char *unit,
                 auto measured, auto predicted) {
    std::vector<const MemoryRow *> chosen;
    std::vector<MeasuredPoint> points;
    for (const MemoryRow &row : rows) {
      std::optional<double> logged = measured(row.measured);
      if (!logged)
        continue;
      chosen.push_back(&row);
      points.push_back(
          {*logged, row.predicted ? predicted(*row.predicted) : std::nullopt,
           row.row.id, row.row.model});
    }
    if (points.empty())
      return;
    ErrorSection section(name, title, unit, std::move(points));
    auto by = [&](const char *what, std::string ServingRow::*member) {
      section.tables.push_back(errorTable(what, section.points, [&](size_t i) {
        return GroupKey{chosen[i]->row.*member};
      }));
    };
    by("model", &ServingRow::model);
    by("runtime", &ServingRow::runtime);
    sections.push_back(std::move(section));
  };
  auto same = [&](const char *name, const char *title,
                  std::optional<double> EngineMemory::*member,
                  const char *unit = "GiB") {
    auto get = [=](const EngineMemory &memory) { return memory.*member; };
    add(name, title, unit, get, get);
  };
  same("memory_weights", "Weights of a device", &EngineMemory::weightsGiB);
  same("memory_temporaries", "Peak of temporaries",
       &EngineMemory::temporariesGiB);
  same("memory_kv_pool", "KV cache of a device", &EngineMemory::kvPoolGiB);
  same("memory_kv_tokens", "Tokens that the KV cache holds",
       &EngineMemory::kvTokens, "tokens");
  add(
      "memory_sum", "Sum of the parts, against the budget", "GiB",
      [](const EngineMemory &memory) { return memory.budgetGiB; }, sumOfParts);
  return sections;
}
