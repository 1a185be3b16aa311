//===- MemoryRows.h - Memory in engines' logs -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_MEMORYROWS_H
#define AUTOPAR_VALIDATION_MEMORYROWS_H

#include "autopar/Support/Table.h"
#include "autopar/Validation/ValidationReport.h"

namespace autopar::validation {

/// Memory of one device of an engine that has started, in GiB; tokens are those
/// that its KV cache holds.
struct EngineMemory {
  std::optional<double> weightsGiB, temporariesGiB, runtimeGiB, kvPoolGiB,
      kvTokens;
  /// The memory that the engine may use, by its share of the device.
  std::optional<double> budgetGiB;
};

/// A row of a table of start-up logs. Model, system, formats and degrees are in
/// `row`; its runtime is the framework's text.
struct MemoryRow {
  ServingRow row;
  /// The share of memory that was given, 0 to 1.
  std::optional<double> memoryUtilization;
  /// Tokens of a step at most, and of a sequence.
  std::optional<int64_t> stepTokens, sequenceTokens;
  EngineMemory measured;

  /// The prediction, or the reason why there is none.
  std::optional<EngineMemory> predicted;
  std::string notPredicted;
};

/// Whether `table` has the columns of memory in engines' logs.
bool hasEngineMemory(const DataTable &table);

/// The columns that `readMemoryRows` looks at, for mappings.
const std::vector<std::string> &memoryColumns();

struct MemoryRows {
  std::vector<MemoryRow> rows;
  std::vector<Error> unreadable;
};

/// Columns: id, model, hardware, framework, dtype, kv_dtype, tp, pp, dp, ep,
/// gpu_memory_utilization or mem_fraction_static, max_num_batched_tokens,
/// max_model_len; weights_gib, activation_peak_gib, non_torch_gib, kv_pool_gib,
/// kv_tokens. The budget is the share of the memory that brackets in hardware
/// state: "H100 (79.19 GiB)". Rows of training runs are left to
/// `readTrainingRows`. Errors: a column that is needed and absent.
Result<MemoryRows> readMemoryRows(const DataTable &table);

/// Errors of each part, and of their sum against the budget.
std::vector<ErrorSection> memorySections(const std::vector<MemoryRow> &rows);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_MEMORYROWS_H
