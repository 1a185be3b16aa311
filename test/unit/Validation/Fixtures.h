//===- Fixtures.h - Measured rows beside the repository ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_VALIDATION_FIXTURES_H
#define AUTOPAR_TEST_UNIT_VALIDATION_FIXTURES_H

#include "autopar/Validation/ServingRows.h"

#include <filesystem>

namespace autopar::test {

/// The folder of shared data `name`, which may be absent.
inline std::string sharedData(const std::string &name) {
  return (std::filesystem::path(AUTOPAR_SOURCE_DIR).parent_path() /
          "shared/data" / name)
      .string();
}

/// The rows of a table of serving measurements in CSV.
inline ServingRows servingRowsOf(const std::string &csv) {
  Result<DataTable> table = parseCsvTable(csv, "t.csv");
  if (!table)
    return {{}, {table.error()}};
  Result<ServingRows> rows = readServingRows(*table);
  return rows ? std::move(*rows) : ServingRows{{}, {rows.error()}};
}

/// A row that no rule objects to.
inline ServingRow plainRow(std::string id = "r", int64_t concurrency = 8,
                           double tpotMs = 10, double ttftMs = 100) {
  ServingRow row;
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

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_VALIDATION_FIXTURES_H
