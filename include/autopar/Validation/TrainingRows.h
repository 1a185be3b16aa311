//===- TrainingRows.h - Training rows of a table ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_TRAININGROWS_H
#define AUTOPAR_VALIDATION_TRAININGROWS_H

#include "autopar/Support/Table.h"
#include "autopar/Validation/TrainingRow.h"

#include <vector>

namespace autopar::validation {

/// Whether `table` is one of training: it has times of iterations, FLOP/s of a
/// device or peaks of its memory.
bool hasTraining(const DataTable &table);

/// The columns that `readTrainingRows` looks at, for mappings.
const std::vector<std::string> &trainingColumns();

struct TrainingRows {
  std::vector<TrainingRow> rows;
  std::vector<Error> unreadable;
};

/// Reads the columns of `trainingColumns()`; `arch` is a JSON object with
/// layers, hidden, heads, kv_heads, head_dim, ffn, dense_ffn, first_dense,
/// vocab, gated, mla, experts, topk, moe_ffn, shared_experts. A table of memory
/// contributes only its rows of training. Errors: a required column is missing.
Result<TrainingRows> readTrainingRows(const DataTable &table);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAININGROWS_H
