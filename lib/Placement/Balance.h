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

/// Ranks that share experts among themselves.
struct Cell {
  std::vector<double> loads;
  int64_t ranks = 1, slotsPerRank = 1;

  int64_t experts() const { return static_cast<int64_t>(loads.size()); }
  int64_t slots() const { return ranks * slotsPerRank; }
};

/// Work that a search may still do. The limit counts steps instead of time, so
/// that results are the same everywhere.
struct Steps {
  int64_t left = limits::maxPlacementSteps;
  bool take(int64_t count) { return (left -= count) > 0; }
  /// Takes `count` if some steps are left afterwards.
  bool takeAll(int64_t count) { return left > count && take(count); }
};

struct Balanced {
  /// Index of the expert, by slot.
  std::vector<int32_t> slots;
  /// Whether no assignment has a lower maximum load of a rank.
  bool optimal = false;
};

/// Differences of loads below this fraction of the bound are rounding errors.
inline constexpr double loadEpsilon = 1e-12;

/// See `LayerPlacement::boundTokens`.
double boundOf(const Cell &cell);
/// Tokens by rank.
std::vector<double> rankLoads(const std::vector<double> &loads, int64_t ranks,
                              const std::vector<int32_t> &slots);
double largestLoadOf(const std::vector<double> &loads);

/// Chooses replicas and ranks. Needs experts <= slots.
Balanced balance(const Cell &cell, Steps &steps);
/// The same for given numbers of replicas, one slot each, at most one per rank.
Balanced balance(const Cell &cell, std::vector<int64_t> counts, Steps &steps);

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_BALANCE_H
