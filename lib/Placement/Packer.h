//===- Packer.h - Replicas on ranks of equally many slots -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLACEMENT_PACKER_H
#define AUTOPAR_LIB_PLACEMENT_PACKER_H

#include "Balance.h"

#include <cstddef>
#include <optional>

namespace autopar {

/// Replicas to ranks: largest first to the coolest rank that has a slot left,
/// then exchanges that cool the hottest rank. No rank gets two replicas of an
/// expert.
class Packer {
public:
  /// `counts`: replicas by expert, at most one per rank, a slot each. Nothing
  /// is cooler than `bound`.
  Packer(const Cell &cell, std::vector<int64_t> counts, double bound);

  /// Fills the ranks, then exchanges one or two replicas of the hottest rank
  /// for as many of another.
  void pack(Steps &steps);
  /// Gives slots of replicas to other experts while that helps.
  void replaceReplicas(Steps &steps);
  /// Becomes `other`, of the same cell.
  void takeFrom(const Packer &other);

  bool isCloseToBound() const { return hottest() <= target; }
  const std::vector<int32_t> &slots() const { return held; }
  double hottest() const { return hottestOf(loads); }

private:
  /// Slots of the hottest rank and of another one that change experts, and the
  /// hotter of both afterwards.
  struct Exchange {
    double worse;
    size_t from[2], to[2];
    size_t count = 0;
  };
  /// A slot that gets another expert, and the hottest rank afterwards.
  struct Replacement {
    double worst;
    size_t slot;
    int32_t expert;
  };
  struct Pair {
    double sum;
    size_t slots[2];
  };

  double share(int32_t expert) const {
    return cell.loads[expert] / counts[expert];
  }
  size_t rankOf(size_t slot) const { return slot / width; }
  size_t begin(size_t rank) const { return rank * width; }
  size_t end(size_t rank) const { return (rank + 1) * width; }
  /// Whether `rank` holds `expert` in another slot than these.
  bool holds(size_t rank, int32_t expert, size_t except = SIZE_MAX,
             size_t except2 = SIZE_MAX) const;
  size_t hottestRank() const;
  void sumUp(size_t rank);
  void fill();
  std::optional<size_t> coolest(const std::vector<bool> &holding) const;
  size_t makeRoomFor(int32_t expert);
  void put(size_t rank, int32_t expert);

  void descend(Steps &steps);
  bool exchangeOne(size_t hot, Steps &steps);
  bool exchangeTwo(size_t hot, Steps &steps);
  void exchangeTwoWith(size_t other, const std::vector<Pair> &hotPairs,
                       Exchange &best) const;
  std::vector<Pair> pairsOf(size_t rank) const;
  bool fits(const Pair &from, const Pair &to) const;
  void apply(const Exchange &exchange);

  bool replaceOne(Steps &steps);
  std::vector<Replacement> replacements(Steps &steps);
  double worstAfter(size_t slot, int32_t expert);
  void replace(size_t slot, int32_t expert);

  const Cell &cell;
  std::vector<int64_t> counts;
  double target, epsilon;
  /// Slots of a rank.
  size_t width;
  /// By slot, the expert; -1: none yet.
  std::vector<int32_t> held;
  std::vector<double> loads;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLACEMENT_PACKER_H
