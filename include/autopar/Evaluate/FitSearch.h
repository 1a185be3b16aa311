//===- FitSearch.h - Finds changes that make a plan fit ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_FITSEARCH_H
#define AUTOPAR_EVALUATE_FITSEARCH_H

#include "autopar/Evaluate/PricedStep.h"

namespace autopar::evaluation {

/// Searches for sizes with which the program fits in memory: sizes of axes
/// (with as many devices as they need), a batch, or a context. A split that is
/// not allowed counts as not fitting.
class FitSearch {
public:
  explicit FitSearch(const PricedStep &step);

  /// Returns the plan with the smallest doubled size of `axis` that fits;
  /// nothing if none does.
  std::optional<plan::Plan> findLarger(const std::string &axis);
  /// Returns the largest batch, up to that of the step, that fits; 0 if none
  /// does. Memory grows with the batch.
  int64_t findBatch();
  /// Returns the longest context, in tokens, with which a decode step fits; 0
  /// if not even one token fits, and for other steps.
  int64_t findContext();
  /// Returns the largest batch that fits, without an upper limit.
  int64_t findMost();

private:
  bool fits(const cost::Layout &layout, const program::Workload &workload);
  bool fitsBatch(int64_t batch);
  /// Finds by bisection the largest number for which `fitsOne` holds, between
  /// `fit`, for which it holds, and `tooMany`, for which it does not.
  template <typename Fits>
  int64_t bisect(int64_t fit, int64_t tooMany, Fits fitsOne);

  const PricedStep &step;
  cost::Tape tape;
  cost::Pricer pricer;
};

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_FITSEARCH_H
