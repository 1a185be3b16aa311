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

/// Finds out whether the program fits with axes of other sizes (and as many
/// devices as they need) or with another batch. Splits that are not legal do
/// not fit.
class FitSearch {
public:
  explicit FitSearch(const PricedStep &step);

  /// Returns the plan in which `axis` is doubled until the program fits.
  std::optional<plan::Plan> findLarger(const std::string &axis);
  /// The largest batch up to the step's that fits, 0 if none does. Memory grows
  /// with the batch.
  int64_t findBatch();
  /// The longest context of a decode step that fits; 0 if not even one token
  /// does, and for other steps.
  int64_t findContext();
  /// The largest batch that fits, without an upper limit.
  int64_t findMost();

private:
  bool fits(const cost::Layout &layout, const program::Workload &workload);
  bool fitsBatch(int64_t batch);
  /// Bisects for the largest number that `fitsOne`, between `fit`, which fits,
  /// and `tooMany`, which does not.
  template <typename Fits>
  int64_t bisect(int64_t fit, int64_t tooMany, Fits fitsOne);

  const PricedStep &step;
  cost::Tape tape;
  cost::Pricer pricer;
};

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_FITSEARCH_H
