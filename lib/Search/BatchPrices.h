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

/// Points of one layout, sixteen at once.
struct LaneBlocks {
  std::vector<cost::LaneValues> blocks;
  size_t count = 0;

  explicit LaneBlocks(const std::vector<cost::GroupValues> &points);
};

/// What a step of a batch costs, or a request of so many at once.
struct BatchPrice {
  bool isLegal = false, fits = false;
  /// Whether it is one step, not a sum of several.
  bool isWhole = true;
  /// Of iterations of training, the time is that of plans that fit.
  double timeUs = 0, totalBytes = 0, keptBytes = 0, runtimeBytes = 0;
  /// Of requests.
  double ttftUs = 0, tpotUs = 0, tokensPerS = 0;
};

/// The step of `workload`, of each batch.
std::vector<program::Workload> withBatches(const program::Workload &workload,
                                           const std::vector<int64_t> &batches);

/// The steps of some batches on a number of replicas: prefills are cut into
/// chunks, which depends on it.
class BatchSteps {
public:
  BatchSteps(const std::vector<program::Workload> &batches,
             const runtime::Runtime &runtime, bool mayCut, int64_t replicas);

  /// Prices them in the layout that `pricer` has, by batch.
  void price(cost::Pricer &pricer, std::vector<BatchPrice> &prices) const;

private:
  /// Some steps of a batch, all alike.
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
