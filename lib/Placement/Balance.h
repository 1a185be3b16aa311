//===- Balance.h - Experts on ranks by load alone ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_BALANCE_H
#define AUTOPAR_LIB_PLACEMENT_BALANCE_H

#include "autopar/Support/Limits.h"

#include <cstdint>
#include <vector>

namespace autopar::placement {

/// A set of ranks that share experts among themselves, with the loads of these
/// experts in tokens.
struct Cell {
  std::vector<double> loads;
  int64_t ranks = 1, slotsPerRank = 1;

  int64_t experts() const { return static_cast<int64_t>(loads.size()); }
  int64_t slots() const { return ranks * slotsPerRank; }
};

/// The number of steps that a search may still take. The limit counts steps
/// instead of time, so that results are the same on every machine.
struct Steps {
  int64_t left = limits::maxPlacementSteps;
  bool take(int64_t count) { return (left -= count) > 0; }
  /// Takes `count` steps if some steps are left afterwards. Returns whether it
  /// took them.
  bool takeAll(int64_t count) { return left > count && take(count); }
};

struct Balanced {
  /// The index of the expert in each slot.
  std::vector<int32_t> slots;
  /// Whether it is proved that no assignment has a lower maximum load of a
  /// rank.
  bool optimal = false;
};

/// Differences of loads below this fraction of the bound are rounding errors.
inline constexpr double loadEpsilon = 1e-12;

/// Returns the lower bound of the most loaded rank's tokens: see
/// `LayerPlacement::boundTokens`.
double boundOf(const Cell &cell);
/// Returns the tokens of each rank.
std::vector<double> rankLoads(const std::vector<double> &loads, int64_t ranks,
                              const std::vector<int32_t> &slots);
double largestLoadOf(const std::vector<double> &loads);

/// Chooses the numbers of replicas and their ranks. There must be at least as
/// many slots as experts.
Balanced balance(const Cell &cell, Steps &steps);
/// Chooses ranks for given numbers of replicas. Each replica takes one slot,
/// and a rank has at most one replica of an expert.
Balanced balance(const Cell &cell, std::vector<int64_t> counts, Steps &steps);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_BALANCE_H
