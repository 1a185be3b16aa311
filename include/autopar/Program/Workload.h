//===- Workload.h - The workload of one step --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_WORKLOAD_H
#define AUTOPAR_PROGRAM_WORKLOAD_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace autopar::program {

/// The phase of a step. `train` is an iteration that computes all tokens of
/// `batch` sequences, the gradients, and an update of the weights.
enum class Phase : uint8_t { prefill, decode, train };

std::string_view nameOf(Phase phase);
std::optional<Phase> parsePhase(std::string_view text);

/// One step of a model: `batch` sequences with `query` new tokens each, and
/// `context` cached tokens each after the step. With an encoder, the step
/// encodes `encoderTokens` positions per sequence (patches of images, frames of
/// audio, source text), and cross attention sees `crossTokens` positions of
/// each sequence.
struct Workload {
  Phase phase = Phase::prefill;
  int64_t batch = 1;
  int64_t query = 1;
  int64_t context = 1;
  int64_t encoderTokens = 0;
  int64_t crossTokens = 0;

  int64_t tokens() const { return batch * query; }
};

/// Equal steps of a prefill, and how many there are.
struct PrefillChunk {
  Workload step;
  int64_t count = 1;
};

/// Returns the steps in which `replicas` replicas, each with its own sequences,
/// compute the prompts of `whole` with at most `budget` tokens per step. A step
/// takes as many whole prompts as fit. If none fits and `mayCut` holds, prompts
/// are computed one after the other in chunks, each of which sees the previous
/// ones. The steps are in the order of time for each prompt. A decode step is
/// returned unchanged.
std::vector<PrefillChunk> prefillChunks(const Workload &whole, int64_t replicas,
                                        int64_t budget, bool mayCut);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_WORKLOAD_H
