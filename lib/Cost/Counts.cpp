//===- Counts.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Counts.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

/// first + (first+1) + ... + last.
static Checked sumRange(Checked first, Checked last) {
  return floorDiv((last - first + 1) * (first + last), 2);
}

/// Keys that `tokens` tokens from the start of a sequence see in their chunks.
static Checked sumOfChunks(Checked tokens, Checked chunk) {
  Checked whole = floorDiv(tokens, chunk);
  return whole * sumRange(1, chunk) + sumRange(1, tokens - whole * chunk);
}

static Checked countChunked(Checked query, Checked context, Checked chunk,
                            bool causal) {
  if (causal)
    return sumOfChunks(context, chunk) - sumOfChunks(context - query, chunk);
  // The last chunk may be incomplete.
  Checked last = context - floorDiv(context, chunk) * chunk;
  Checked inLast = std::min(query, last);
  return inLast * last + (query - inLast) * chunk;
}

Checked autopar::countPairs(Checked query, Checked context,
                            const Pairs &pairs) {
  if (pairs.chunk != 0)
    return countChunked(query, context, pairs.chunk, pairs.causal);
  bool limited = pairs.window != 0 && context >= pairs.window;
  Checked limit = limited ? Checked(pairs.window) : context;
  if (!pairs.causal)
    return query * limit;
  Checked first = context - query + 1;
  if (first >= limit)
    return query * limit;
  // Queries before the first key see none.
  first = std::max(first, Checked(1));
  return sumRange(first, limit) + (context - limit) * limit;
}

double autopar::expectedExperts(double experts, double topK, double tokens) {
  if (tokens <= 0)
    return 0;
  if (topK >= experts)
    return experts;
  return -experts * std::expm1(tokens * std::log1p(-topK / experts));
}

/// Pairs of the worst device: context parallelism balances them (zig-zag), so
/// that each query has an equal share, of which the worst device has the
/// ceiling.
static Checked localPairs(const Pairs &pairs, Checked query, Checked all,
                          const Sizes &sizes) {
  if (query.isZero())
    return 0;
  Checked own = ceilDiv(query, sizes.groupSize(pairs.query.axes));
  return ceilDiv(all * own, query * sizes.groupSize(pairs.context.axes));
}

KernelFlops autopar::countFlops(const Kernel &kernel, Sizes &sizes) {
  KernelFlops flops;
  if (kernel.flopFactor == 0)
    return flops;
  sizes.enter("kernel", kernel.name);
  flops.logical = Checked(kernel.flopFactor) * sizes.logical(kernel.rows) *
                  sizes.logical(kernel.columns) *
                  sizes.logical(kernel.contraction);
  flops.local = Checked(kernel.flopFactor) * sizes.local(kernel.rows) *
                sizes.local(kernel.columns) * sizes.local(kernel.contraction);
  flops.fullSquare = flops.logical;
  if (!kernel.pairs)
    return flops;
  const Pairs &pairs = *kernel.pairs;
  Checked query = sizes.logical(pairs.query.extent);
  Checked context = sizes.logical(pairs.context.extent);
  Checked all = countPairs(query, context, pairs);
  flops.logical *= all;
  flops.local *= localPairs(pairs, query, all, sizes);
  flops.fullSquare *= query * context;
  return flops;
}

void StepFlops::add(const Kernel &kernel, const KernelFlops &flops) {
  Checked all = flops.logical * kernel.count;
  switch (kernel.flopClass) {
  case FlopClass::none:
    return;
  case FlopClass::linear:
    linear += all;
    return;
  case FlopClass::attention:
    attention += all;
    attentionFullSquare += flops.fullSquare * kernel.count;
    return;
  case FlopClass::recurrence:
    recurrence += all;
    return;
  case FlopClass::logits:
    logits += all;
    return;
  }
}

/// Reads only the experts that are reached: the first dimension counts them.
static Checked countRoutedBytes(const Traffic &traffic, Sizes &sizes) {
  const Dim &experts = traffic.shape.front();
  Checked total = sizes.logical(experts.extent);
  if (total.isZero())
    return 0;
  double tokens =
      sizes.local(traffic.rows).real() / static_cast<double>(traffic.topK);
  double reached =
      expectedExperts(total.real(), static_cast<double>(traffic.topK), tokens);
  double share = reached / total.real();
  Checked whole = bytesOf(sizes.local(traffic.shape), traffic.type);
  double bytes = whole.real() * share;
  if (!(bytes < 9e18)) {
    sizes.fail("number of expert bytes does not fit in 63 bits");
    return 0;
  }
  return std::llround(bytes);
}

Checked autopar::countBytes(const Traffic &traffic, Sizes &sizes) {
  if (traffic.topK != 0 && !traffic.shape.empty())
    return countRoutedBytes(traffic, sizes);
  return bytesOf(sizes.local(traffic.shape), traffic.type);
}

bool autopar::hasWork(const Kernel &kernel, const Sizes &sizes) {
  if (kernel.count == 0)
    return false;
  if (kernel.flopFactor != 0 && sizes.logical(kernel.rows).isZero())
    return false;
  bool writes = false;
  for (const Traffic &traffic : kernel.traffic) {
    if (traffic.write && !sizes.logical(traffic.shape).isZero())
      return true;
    writes |= traffic.write;
  }
  return !writes;
}

KernelBytes autopar::countBytes(const Kernel &kernel, Sizes &sizes) {
  KernelBytes bytes;
  sizes.enter("kernel", kernel.name);
  for (const Traffic &traffic : kernel.traffic) {
    Checked moved = countBytes(traffic, sizes);
    bytes.total += moved;
    if (!traffic.write && traffic.role != Traffic::Role::activation)
      bytes.weightsAndKvRead += moved;
  }
  return bytes;
}

WeightCounts autopar::countWeight(const Resident &weight, const Sizes &sizes) {
  WeightCounts counts;
  const Dims &values = weight.parameters();
  counts.parameters = counts.active = sizes.logical(values) * weight.count;
  counts.bytes =
      bytesOf(sizes.logical(weight.shape) * weight.count, weight.type);
  if (weight.topK == 0 || values.empty())
    return counts;
  Checked experts = sizes.logical(values.front().extent);
  if (experts > weight.topK)
    counts.active = floorDiv(counts.parameters, experts) * weight.topK;
  return counts;
}

Checked autopar::countPerSequence(const CostProgram &program,
                                  Resident::Kind kind, Sizes sizes,
                                  bool local) {
  Checked bytes;
  sizes.setSymbol("batch", 1);
  for (const Resident &resident : program.residents) {
    if (resident.kind != kind)
      continue;
    Checked elements =
        local ? sizes.local(resident.shape) : sizes.logical(resident.shape);
    bytes += bytesOf(elements * resident.count, resident.type);
  }
  return bytes;
}

std::optional<Dims> autopar::shapeOfToken(const Resident &cache,
                                          const CostProgram &program,
                                          std::string_view tokens) {
  if (cache.kind != Resident::Kind::kv_cache)
    return std::nullopt;
  Dims shape = cache.shape;
  for (Dim &dim : shape) {
    std::vector<SymbolId> &symbols = dim.extent.symbols;
    auto context =
        std::find_if(symbols.begin(), symbols.end(), [&](SymbolId id) {
          return program.symbols[id] == tokens;
        });
    if (context == symbols.end())
      continue;
    symbols.erase(context);
    // Whichever device holds the new token holds all of it.
    dim = Dim{{dim.extent.factor, symbols, 0}, {}, SplitRule::plain, 1};
    return shape;
  }
  return std::nullopt;
}
