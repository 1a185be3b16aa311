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

/// A priced point of a search space: its cost, its rate, and its indices in the
/// space.
struct Candidate {
  /// The number to minimise: the time or, in training, the bytes per device.
  double cost = 0;
  double timeUs = 0;
  /// The number to maximise: tokens per second of all devices.
  double tokensPerS = 0;
  /// Times of requests in us; 0 for steps and iterations.
  double ttftUs = 0, tpotUs = 0;
  /// Position in the space: index of the mesh, `PlanChoice::code`, index of the
  /// axis order.
  uint32_t sizes = 0, choice = 0, order = 0;
  int64_t batch = 1, microbatches = 1;
  /// Number of virtual stages per device; only in training.
  int64_t interleave = 1;
  schedule::ScheduleKind schedule = schedule::ScheduleKind::inference;

  /// Whether this candidate comes before `other` in the space; the earlier one
  /// wins a tie.
  bool isBefore(const Candidate &other) const;
};

/// The Pareto frontier of one machine, by rising cost: candidates none of which
/// is better than another one in both cost and tokens per second.
class Frontier {
public:
  /// Whether a candidate of the frontier is at least as good as `candidate` in
  /// both numbers and better in one, or equal and earlier in the space.
  bool beats(const Candidate &candidate) const;
  /// Adds a candidate unless the frontier beats it, and removes those that it
  /// beats. Returns whether it was added.
  bool add(const Candidate &candidate);
  void add(const Frontier &other);

  const std::vector<Candidate> &all() const { return steps; }

private:
  std::vector<Candidate> steps;
};

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_FRONTIER_H
