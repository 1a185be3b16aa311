//===- ThroughputRows.h - Measured throughput of batches --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_THROUGHPUTROWS_H
#define AUTOPAR_VALIDATION_THROUGHPUTROWS_H

#include "autopar/Support/Table.h"
#include "autopar/Validation/ValidationReport.h"

namespace autopar::validation {

/// One batch from start to end, or an engine that is never out of requests.
enum class ThroughputKind : uint8_t { static_batch, in_flight, other };

/// A row of a table of throughput. Fields that served rows have too are in
/// `row`, whose runtime is the framework's text.
struct ThroughputRow {
  ServingRow row;
  ThroughputKind kind = ThroughputKind::other;
  /// Sequences of a static batch.
  int64_t batch = 0;
  /// Output tokens per second of all devices.
  double tokensPerSecond = 0;
  /// Before kernels that later engines have: reported apart.
  bool isOld = false;

  /// The prediction, or the reason why there is none.
  std::optional<double> predicted;
  std::string notPredicted;
};

/// Whether `table` is one of throughput: it has tokens_per_s_out, and
/// neither silicon_tpot_ms nor silicon_ttft_ms.
bool hasThroughput(const DataTable &table);

/// The columns that `readThroughputRows` looks at, for mappings.
const std::vector<std::string> &throughputColumns();

struct ThroughputRows {
  std::vector<ThroughputRow> rows;
  std::vector<Error> unreadable;
  /// Rows of other kinds: latencies, prefill rates.
  size_t others = 0;
};

/// Columns: id, model, hardware, framework, comparable, quant, kv_dtype, tp,
/// pp, dp, ep, isl, osl, batch, tokens_per_s_out, pre_xqa. Errors: a column
/// that is needed and absent.
Result<ThroughputRows> readThroughputRows(const DataTable &table);

/// Errors of predictions: of static batches, of endless requests, and of
/// engines before TensorRT-LLM 0.17 or its kernel for grouped queries.
std::vector<ErrorSection>
throughputSections(const std::vector<ThroughputRow> &rows);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_THROUGHPUTROWS_H
