//===- StrategyStages.h - Layers of one strategy, for stages ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_STRATEGYSTAGES_H
#define AUTOPAR_LIB_SEARCH_STRATEGYSTAGES_H

#include "BatchPrices.h"

#include "autopar/Cost/PipelineTimes.h"

namespace autopar::search {

/// The inputs for prices of stages: the parts of one strategy on one machine,
/// and the model's layers in their order.
class StrategyStages {
protected:
  /// The arguments must outlive the object.
  StrategyStages(const SearchProblem &problem, const SearchTarget &target,
                 cost::CompiledProgram &compiled);

  /// Lays out the layers as the pass `stage-pipeline` does, once the pricer has
  /// prices. Returns whether they can be laid out.
  bool layOut(std::vector<schedule::LayerRange> &ranges) const;

  const SearchProblem &problem;
  const SearchTarget &target;
  const program::CostProgram &program;
  cost::StagePricer pricer;
  /// The layers in the order in which they run; empty if the program has no
  /// layers to lay out.
  std::vector<uint32_t> order;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_STRATEGYSTAGES_H
