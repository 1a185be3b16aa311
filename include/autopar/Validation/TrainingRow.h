//===- TrainingRow.h - One measured run of training -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_TRAININGROW_H
#define AUTOPAR_VALIDATION_TRAININGROW_H

#include <cstdint>
#include <optional>
#include <string>

namespace autopar::validation {

/// The sizes of a model, as far as a row states them.
struct TrainedArchitecture {
  std::optional<int64_t> layers, hidden, heads, kvHeads, headSize;
  /// Width of a dense layer: `ffn`, or `dense_ffn` beside experts.
  std::optional<int64_t> width, vocabulary;
  std::optional<int64_t> experts, topK, expertWidth, sharedExperts;
  /// Layers before the first with experts.
  std::optional<int64_t> firstDense;
  /// Whether a feed-forward network has a gate: three products, not two.
  std::optional<bool> gated;
  bool latentAttention = false;
};

/// The source of an iteration's time: stated, computed by the collector of the
/// table, or derived from the throughput.
enum class IterationSource : uint8_t { stated, derived, throughput };
const char *nameOf(IterationSource source);

/// A row of a table of training, with the values of its columns.
struct TrainingRow {
  std::string id;
  /// Line of the file, from 1.
  size_t line = 0;
  std::string source, model, system, task, precision, recompute, schedule;
  std::optional<TrainedArchitecture> architecture;
  std::optional<double> parametersBillion;
  std::optional<int64_t> devices, tp, pp, dp, cp, ep, expertTp, interleave;
  /// ZeRO's stage; `fsdp` is a kind of sharding or a number of devices.
  std::optional<int64_t> zeroStage;
  std::string fsdp;
  std::optional<bool> sequenceParallel;
  bool offloadsActivations = false;
  std::optional<int64_t> sequenceTokens, globalBatch, microbatch;
  std::optional<double> iterationSeconds;
  IterationSource iterationSource = IterationSource::stated;
  /// Peak of the device that needs most.
  std::optional<double> peakGiB;
  /// Whether its memory was computed by a paper's formulas, not measured.
  bool isComputed = false;

  bool isMoe() const { return architecture && architecture->experts; }
};

/// The prediction of a row.
struct TrainingPrediction {
  double iterationSeconds = 0, peakGiB = 0;
};

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAININGROW_H
