//===- Counts.h - Pairs, experts, FLOPs and bytes of kernels ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_COUNTS_H
#define AUTOPAR_COST_COUNTS_H

#include "autopar/Cost/Sizes.h"

namespace autopar {

/// (query, key) pairs of `query` new tokens with `context` cached after the
/// step. Causal: the query at position p (context-query to context-1) sees
/// min(p+1, window) keys, which without a window is
/// query*context - query*(query-1)/2. Not causal: query*min(context, window).
/// A `window` of 0 is none; a query before the first key sees none. With a
/// `chunk` c, causal: p mod c + 1 keys, summed over the prefixes before and
/// after the step, S(context) - S(context-query) with S(n) =
/// floor(n/c)*c*(c+1)/2 + r*(r+1)/2, r = n mod c; not causal: all of the chunk
/// that are cached. Closed forms; physics: FlashAttention-2 (arXiv:2307.08691)
/// section 3.1.1 halves the square, this is exact.
Checked countPairs(Checked query, Checked context, const Pairs &pairs);

/// Distinct experts, of `experts`, that `tokens` tokens reach when each
/// chooses `topK` of them uniformly: E*(1-(1-k/E)^tokens). The expectation of
/// occupied cells, Johnson and Kotz, Urn Models (1977), section 3.2.
double expectedExperts(double experts, double topK, double tokens);

/// FLOPs of one launch; a multiply-add is 2.
struct KernelFlops {
  Checked logical, local;
  /// Logical, with every pair counted: the convention of papers that do not
  /// halve the square.
  Checked fullSquare;
};
KernelFlops countFlops(const Kernel &kernel, Sizes &sizes);

/// Logical FLOPs of all launches, by class.
struct StepFlops {
  Checked linear, attention, attentionFullSquare, recurrence, logits;

  /// Adds those of `kernel`, of which `flops` are one launch's.
  void add(const Kernel &kernel, const KernelFlops &flops);
  Checked total() const { return linear + attention + recurrence + logits; }
};

/// Bytes that `traffic` moves on one device in one launch; the expected
/// number, rounded to the nearest byte, where it reads routed experts.
Checked countBytes(const Traffic &traffic, Sizes &sizes);

/// Whether `kernel` computes anything at these sizes: one that has no rows, or
/// whose results are all empty, is not launched.
bool hasWork(const Kernel &kernel, const Sizes &sizes);

/// Bytes of one launch on one device.
struct KernelBytes {
  Checked total;
  /// The reads of weights and KV caches: what bounds a decode step.
  Checked weightsAndKvRead;
};
KernelBytes countBytes(const Kernel &kernel, Sizes &sizes);

/// What a weight adds to a model: by value, not by copy, so that replicas and
/// padding do not count. Active are those that one token uses.
struct WeightCounts {
  Checked parameters, active, bytes;
};
WeightCounts countWeight(const Resident &weight, const Sizes &sizes);

/// Bytes of the residents of `kind` that one sequence needs: logical, or what
/// the worst device holds of them.
Checked countPerSequence(const CostProgram &program, Resident::Kind kind,
                         Sizes sizes, bool local = false);

/// What one more of the `tokens` ("context", "memory") adds to `cache` where no
/// window is full; nothing where the cache does not grow with them.
std::optional<Dims> shapeOfToken(const Resident &cache,
                                 const CostProgram &program,
                                 std::string_view tokens);

} // namespace autopar

#endif // AUTOPAR_COST_COUNTS_H
