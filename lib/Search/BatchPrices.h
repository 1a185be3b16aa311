//===- BatchPrices.h - The batches of a search, in one layout ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_BATCHPRICES_H
#define AUTOPAR_LIB_SEARCH_BATCHPRICES_H

#include "autopar/Cost/Pricer.h"
#include "autopar/Search/Search.h"

namespace autopar::search {

/// The points of one layout, in blocks of `cost::laneCount` points.
struct LaneBlocks {
  std::vector<cost::LaneValues> blocks;
  size_t count = 0;

  explicit LaneBlocks(const std::vector<cost::GroupValues> &points);
};

/// The price of a step with one batch, or of a service at one concurrency.
struct BatchPrice {
  bool isLegal = false, fits = false;
  /// Whether the price is that of a single step, not the sum of several chunks.
  bool isWhole = true;
  /// The time in us and the memory in bytes. For iterations of training, the
  /// time is set only if the plan fits in memory.
  double timeUs = 0, totalBytes = 0, keptBytes = 0, runtimeBytes = 0;
  /// The times to the first and between further tokens in us, and the rate in
  /// tokens/s, for requests.
  double ttftUs = 0, tpotUs = 0, tokensPerS = 0;
};

/// Returns one copy of `workload` for each batch, with this batch.
std::vector<program::Workload> withBatches(const program::Workload &workload,
                                           const std::vector<int64_t> &batches);

/// The steps of several batches. Prefills are cut into chunks, whose number
/// depends on the number of replicas.
class BatchSteps {
public:
  BatchSteps(const std::vector<program::Workload> &batches,
             const runtime::Runtime &runtime, bool mayCut, int64_t replicas);

  /// Prices the steps in the layout of `pricer`. `prices` gets one entry for
  /// each batch.
  void price(cost::Pricer &pricer, std::vector<BatchPrice> &prices) const;

private:
  /// Several equal steps of a batch: the index of the batch, and the number of
  /// steps.
  struct Chunk {
    size_t batch;
    double count;
  };

  LaneBlocks whole, cut;
  std::vector<Chunk> chunks;
  std::vector<bool> isCut;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_BATCHPRICES_H
