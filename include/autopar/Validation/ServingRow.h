//===- ServingRow.h - One measured point of a served model ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_SERVINGROW_H
#define AUTOPAR_VALIDATION_SERVINGROW_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace autopar::validation {

/// The split of a deployment's workers.
struct ServedDegrees {
  int64_t tp = 1, pp = 1, attentionDp = 1, expertTp = 1, ep = 1;
  /// Whether the row states `attentionDp`; degrees that it does not state are
  /// 1.
  bool attentionDpStated = true;

  int64_t devices() const { return tp * pp * attentionDp; }
  /// The same numbers, stated or not.
  bool operator==(const ServedDegrees &other) const;
};

/// Workers of one phase of a disaggregated deployment.
struct ServedPool {
  ServedDegrees degrees;
  /// 0 where the row does not say.
  int64_t workers = 0;
  std::optional<int64_t> batchSize;
};

/// A row of a table of serving measurements: a closed loop with a fixed
/// concurrency.
struct ServingRow {
  std::string id;
  /// Line of the file, from 1.
  size_t line = 0;
  /// The source column, and its `key=value` pairs.
  std::string source;
  std::map<std::string, std::string> sourceFields;
  std::string runtime, runtimeVersion, model, system;
  /// Formats as stated; empty: the checkpoint's.
  std::string precision, denseFormat, expertFormat, kvFormat;
  /// Nominal tokens of a prompt, and of an answer.
  int64_t inputTokens = 0, outputTokens = 0;
  /// Requests at once, of the whole deployment.
  int64_t concurrency = 0;
  /// Requests that each client sends, one after the other; the first ones of
  /// all clients arrive at once. Absent: as the rule "ttft" says.
  std::optional<int64_t> rounds;
  /// Whether `inputTokens` and `outputTokens` are the means of what was served,
  /// not what the benchmark was asked for.
  bool areLengthsMeans = false;
  ServedDegrees degrees;
  /// Where `mode` is "disagg": who prefills, who decodes.
  std::optional<ServedPool> prefill, decode;
  std::optional<double> ttftMs, tpotMs;
};

/// The part of a prediction that decides whether a row counts. It never
/// includes latency.
struct RowCapacity {
  /// Tokens that the KV caches of the deployment hold, of all replicas.
  int64_t kvTokens = 0;
  /// FLOPs of one token of an answer at the mean context, and of a whole
  /// prompt; dense peak of all devices in the row's format, FLOP/s.
  double decodeFlops = 0, promptFlops = 0, peakFlops = 0;
  /// Devices of a node.
  int64_t devicesPerNode = 0;
  /// Whether the model has a head that speculates.
  bool hasPredictionHead = false;
};

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_SERVINGROW_H
