//===- Frontier.h - Plans that no other plan beats --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_FRONTIER_H
#define AUTOPAR_SEARCH_FRONTIER_H

#include "autopar/Schedule/Schedule.h"

#include <cstdint>
#include <vector>

namespace autopar::search {

/// A point of a space: what it is worth, and where in the space it is.
struct Candidate {
  /// Less is better: the time or, of training, bytes of a device.
  double cost = 0;
  double timeUs = 0;
  /// More is better.
  double tokensPerS = 0;
  /// Of requests.
  double ttftUs = 0, tpotUs = 0;
  /// Indices into sizes and orders of the search, `PlanChoice::code`; the rest
  /// of the point.
  uint32_t sizes = 0, choice = 0, order = 0;
  int64_t batch = 1, microbatches = 1;
  /// Of training.
  int64_t interleave = 1;
  schedule::ScheduleKind schedule = schedule::ScheduleKind::inference;

  /// Earlier in the space: of equal candidates the first is kept.
  bool isBefore(const Candidate &other) const;
};

/// The candidates of one machine of which none is better in both: a staircase,
/// by rising cost.
class Frontier {
public:
  /// Whether it has one that is as good in both and better in one, or equal
  /// and earlier.
  bool beats(const Candidate &candidate) const;
  /// Adds one that is not beaten, drops those that it beats. Whether it did.
  bool add(const Candidate &candidate);
  void add(const Frontier &other);

  const std::vector<Candidate> &all() const { return steps; }

private:
  std::vector<Candidate> steps;
};

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_FRONTIER_H
