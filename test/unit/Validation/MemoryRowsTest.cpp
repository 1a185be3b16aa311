//===- MemoryRowsTest.cpp - What engines log of their memory --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/MemoryRows.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;

static MemoryRows rowsOf(const std::string &json) {
  Result<DataTable> table = parseJsonTable(json, "m.json");
  if (!table)
    return {{}, {table.error()}};
  EXPECT_TRUE(hasEngineMemory(*table));
  Result<MemoryRows> rows = readMemoryRows(*table);
  return rows ? std::move(*rows) : MemoryRows{{}, {rows.error()}};
}

TEST(MemoryRows, LogsAreRead) {
  MemoryRows read = rowsOf(R"json([{"id": "a", "model": "m", "tp": 2,
    "hardware": "H100 (79.19 GiB)", "framework": "vLLM 0.19.0",
    "dtype": "bf16", "gpu_memory_utilization": 0.5, "weights_gib": 14.25,
    "activation_peak_gib": 2.21, "kv_pool_gb": 3, "kv_tokens": 1000,
    "max_num_batched_tokens": 8192},
    {"id": "b", "model": "m", "hardware": "A100", "framework": "Megatron",
     "recompute": "full", "weights_gib": 1}])json");
  ASSERT_EQ(read.rows.size(), 1u);
  const MemoryRow &row = read.rows.front();
  EXPECT_EQ(row.row.degrees.tp, 2);
  EXPECT_EQ(row.stepTokens, 8192);
  EXPECT_EQ(row.sequenceTokens, std::nullopt);
  EXPECT_EQ(row.measured.weightsGiB, 14.25);
  EXPECT_EQ(row.measured.runtimeGiB, std::nullopt);
  EXPECT_EQ(row.measured.kvPoolGiB, 3);
  EXPECT_DOUBLE_EQ(*row.measured.budgetGiB, 79.19 / 2);
}

TEST(MemoryRows, WrongCellsAreNamed) {
  const char *row =
      R"json([{"model": "m", "hardware": "H100", "framework": "vLLM",
                         "weights_gib": 1, "gpu_memory_utilization": 1.5}])json";
  MemoryRows read = rowsOf(row);
  ASSERT_EQ(read.unreadable.size(), 1u);
  EXPECT_EQ(read.unreadable[0].str(),
            "m.json: /0: a share of memory above 1: 1.5");
  read = rowsOf(R"json([{"weights_gib": 1}])json");
  ASSERT_EQ(read.unreadable.size(), 1u);
  EXPECT_EQ(read.unreadable[0].message,
            "no column for model, hardware, framework");
}

/// The sum of what is predicted, against the share of the memory.
TEST(MemoryRows, PartsAddUp) {
  MemoryRow row;
  row.measured.budgetGiB = 71;
  row.measured.weightsGiB = 15;
  row.predicted = {14.25, 2, 0.75, 54, 1000., 71.};
  std::vector<ErrorSection> sections = memorySections({row, MemoryRow()});
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].name, "memory_weights");
  EXPECT_NEAR(sections[0].all.mape, 0.05, 1e-12);
  EXPECT_EQ(sections[1].name, "memory_sum");
  EXPECT_EQ(sections[1].all.mape, 0);
}
