//===- PrefillChunks.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Workload.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;

/// Adds the chunks of `turn`, the prompts that run side by side; `count` equal
/// turns follow each other.
static void addTurns(const Workload &turn, int64_t budget, int64_t count,
                     std::vector<PrefillChunk> &chunks) {
  if (count == 0 || turn.batch == 0)
    return;
  int64_t cached = turn.context - turn.query;
  for (int64_t done = 0; done < turn.query; done += budget) {
    Workload step = turn;
    step.query = std::min(budget, turn.query - done);
    step.context = cached + done + step.query;
    // The first chunk encodes the positions that later chunks attend to.
    if (done != 0)
      step.encoderTokens = 0;
    chunks.push_back({step, count});
  }
}

std::vector<PrefillChunk> autopar::program::prefillChunks(const Workload &whole,
                                                          int64_t replicas,
                                                          int64_t budget,
                                                          bool mayCut) {
  if (whole.phase != Phase::prefill)
    return {{whole, 1}};
  int64_t together =
      std::max<int64_t>(1, budget / std::max<int64_t>(1, whole.query));
  int64_t most =
      replicas > whole.batch / together ? whole.batch : together * replicas;
  Workload full = whole, rest = whole;
  full.batch = most;
  rest.batch = whole.batch % most;
  int64_t tokens = mayCut ? std::max<int64_t>(1, budget) : whole.query;
  std::vector<PrefillChunk> chunks;
  addTurns(full, tokens, whole.batch / most, chunks);
  addTurns(rest, tokens, 1, chunks);
  return chunks;
}
