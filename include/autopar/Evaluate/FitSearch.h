//===- FitSearch.h - What would fit -----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_FITSEARCH_H
#define AUTOPAR_EVALUATE_FITSEARCH_H

#include "autopar/Evaluate/PricedStep.h"

namespace autopar::evaluation {

/// Whether the same program fits elsewhere: with axes of other sizes, on as
/// many devices as that takes, or with another batch. Splits that are not legal
/// do not.
class FitSearch {
public:
  explicit FitSearch(const PricedStep &step);

  /// The plan with `axis` doubled until the program fits.
  std::optional<plan::Plan> findLarger(const std::string &axis);
  /// The most sequences up to the step's that fit; 0 where not one does. Memory
  /// grows with them.
  int64_t findBatch();
  /// The longest context of a decode step that fits; 0 where not even that of
  /// one token does, and of other steps.
  int64_t findContext();
  /// The most of any number.
  int64_t findMost();

private:
  bool fits(const cost::Layout &layout, const program::Workload &workload);
  bool fitsBatch(int64_t batch);
  /// The largest number that `fitsOne`, between `fit` that does and `tooMany`
  /// that does not.
  template <typename Fits>
  int64_t bisect(int64_t fit, int64_t tooMany, Fits fitsOne);

  const PricedStep &step;
  cost::Tape tape;
  cost::Pricer pricer;
};

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_FITSEARCH_H
