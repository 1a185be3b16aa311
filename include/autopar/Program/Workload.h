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

namespace autopar {

enum class Phase : uint8_t { prefill, decode };

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

} // namespace autopar

#endif // AUTOPAR_PROGRAM_WORKLOAD_H
