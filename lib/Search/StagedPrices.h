//===- StagedPrices.h - Plans of one strategy on stages ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_STAGEDPRICES_H
#define AUTOPAR_LIB_SEARCH_STAGEDPRICES_H

#include "StrategyStages.h"

namespace autopar::search {

/// A step whose batch goes through pipeline stages in microbatches.
struct StagedPoint {
  cost::Layout layout;
  /// The axis along which the stages lie.
  cost::GroupAxis stages;
  int64_t replicas = 1, batch = 1, microbatches = 1;
};

/// Splits layers into stages by cost and simulates the pipeline, as
/// `stage-pipeline` and `evaluate` do.
class StagedPrices : StrategyStages {
public:
  /// The arguments must outlive the object.
  StagedPrices(const SearchProblem &problem, const SearchTarget &target,
               cost::CompiledProgram &compiled)
      : StrategyStages(problem, target, compiled) {}

  BatchPrice price(const StagedPoint &point);

private:
  bool addTransfers(const StagedPoint &point);
  bool findMemory(BatchPrice &price);

  cost::PipelineSteps steps;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_STAGEDPRICES_H
