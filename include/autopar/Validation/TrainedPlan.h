//===- TrainedPlan.h - Plans of measured training runs ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_TRAINEDPLAN_H
#define AUTOPAR_VALIDATION_TRAINEDPLAN_H

#include "autopar/Program/Recomputation.h"
#include "autopar/Support/Result.h"
#include "autopar/Validation/Recipes.h"

#include <vector>

namespace autopar::validation {

/// The framework whose overlap and states a run has.
enum class TrainingRuntime : uint8_t {
  megatron,
  megatron_deepspeed,
  nemo,
  fsdp,
  fsdp2
};
const char *nameOf(TrainingRuntime runtime);

/// The format in which matmuls of weights are computed.
enum class TrainingFormat : uint8_t { fp16, bf16, fp8, mxfp8, nvfp4 };
const char *nameOf(TrainingFormat format);
/// "FP8-MX" -> mxfp8; nothing where `precision` names no format.
std::optional<TrainingFormat> trainingFormatOf(const std::string &precision);

/// The plan of a row, with the degrees that it means.
struct TrainedPlan {
  TrainingRuntime runtime = TrainingRuntime::megatron;
  TrainingFormat format = TrainingFormat::bf16;
  /// devices = tp * pp * cp * dp; each of ep and expertTp divides tp * cp * dp.
  int64_t devices = 1, tp = 1, pp = 1, dp = 1, cp = 1, ep = 1, expertTp = 1;
  /// Virtual stages of a device; "" where the schedule is not stated.
  int64_t interleave = 1;
  std::string schedule;
  int64_t sequenceTokens = 0;
  /// Sequences of a micro-batch of a replica, and how many make an iteration.
  int64_t microbatchSequences = 1, microbatches = 1;
  /// ZeRO stage: 1 splits optimizer states, 2 also gradients, 3 also
  /// parameters; the number of devices to split over, beyond which there are
  /// replicas.
  int64_t zeroStage = 0, zeroDevices = 1;
  bool sequenceParallel = false, offloadsActivations = false;
  /// Heads that predict further tokens; none where absent.
  std::optional<int64_t> mtpLayers;
  program::Recomputation recomputation;
  /// Gradients of microbatches add up in 16 bits, not in fp32.
  bool narrowGradients = false;
  /// Attention that writes its probabilities, and how often elements are
  /// dropped.
  bool unfusedAttention = false;
  /// Tokens go once to each device that has one of their experts, and beside
  /// the kernels of another microbatch.
  bool sendsOnce = false, overlapsDispatch = false;
  /// A graph has the whole iteration.
  bool capturesIteration = false;
  double dropout = 0;
  /// Choices that the row does not state, with the assumed values.
  std::vector<std::string> assumed;
};

/// The plan of a row. Choices that a row of NeMo does not state follow
/// `recipes`. Errors: a missing number, or numbers that do not fit together.
Result<TrainedPlan> trainedPlanOf(const TrainingRow &row,
                                  const std::vector<Recipe> &recipes = {});

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAINEDPLAN_H
