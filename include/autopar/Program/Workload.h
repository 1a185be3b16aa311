//===- Workload.h - What one step computes ----------------------*- C++ -*-===//
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

/// `train`: an iteration computes all tokens of `batch` sequences, gradients
/// and an update of the weights.
enum class Phase : uint8_t { prefill, decode, train };

std::string_view nameOf(Phase phase);
std::optional<Phase> parsePhase(std::string_view text);

/// One step of a model: `batch` sequences, `query` new tokens in each, and
/// `context` cached tokens in each after the step. Of an encoder,
/// `encoderTokens` positions per sequence are encoded in the step (patches of
/// images, frames of audio, source text), and cross attention sees
/// `crossTokens` of them in each.
struct Workload {
  Phase phase = Phase::prefill;
  int64_t batch = 1;
  int64_t query = 1;
  int64_t context = 1;
  int64_t encoderTokens = 0;
  int64_t crossTokens = 0;

  int64_t tokens() const { return batch * query; }
};

/// Steps of a prefill that are alike.
struct PrefillChunk {
  Workload step;
  int64_t count = 1;
};

/// The steps in which `replicas` replicas, each with sequences of its own,
/// compute the prompts of `whole`, where each takes at most `budget` tokens at
/// once: whole prompts, as many as that holds, or, where it holds none and
/// `mayCut`, one prompt after the other in chunks of which each sees those
/// before it. In the order of time for each prompt. Of a decode step, itself.
std::vector<PrefillChunk> prefillChunks(const Workload &whole, int64_t replicas,
                                        int64_t budget, bool mayCut);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_WORKLOAD_H
