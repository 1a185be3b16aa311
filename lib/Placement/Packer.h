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

namespace autopar::placement {

/// Assigns replicas to ranks: the largest replica first, each to the least
/// loaded rank with a free slot. Exchanges of replicas then lower the maximum
/// load. No rank gets two replicas of an expert.
class Packer {
public:
  /// `counts` gives the number of replicas of each expert, at most one per
  /// rank; each replica takes one slot. `bound` is a lower bound of the maximum
  /// load.
  Packer(const Cell &cell, std::vector<int64_t> counts, double bound);

  /// Fills the ranks. Then exchanges one or two replicas of the most loaded
  /// rank for as many replicas of another rank.
  void pack(Steps &steps);
  /// Gives the slots of some replicas to other experts, as long as this lowers
  /// the maximum load.
  void replaceReplicas(Steps &steps);
  /// Takes over the state of `other`, which must pack the same cell.
  void takeFrom(const Packer &other);

  bool isCloseToBound() const { return largestLoad() <= target; }
  const std::vector<int32_t> &slots() const { return held; }
  double largestLoad() const { return loads[mostLoadedRank()]; }

private:
  /// An exchange: the slots of the most loaded rank and of another rank that
  /// change experts, and the higher load of the two ranks afterwards.
  struct Exchange {
    double worse;
    size_t from[2], to[2];
    size_t count = 0;
  };
  /// A replacement: a slot that gets another expert, and the maximum load
  /// afterwards.
  struct Replacement {
    double worst;
    size_t slot;
    int32_t expert;
  };
  /// A slot and the load of the replica in it.
  struct Slot {
    double share;
    size_t slot;
  };
  struct Pair {
    double sum;
    size_t slots[2];
  };
  class Replacer;

  double share(int32_t expert) const { return shares[expert]; }
  void setCount(int32_t expert, int64_t count);
  size_t rankOf(size_t slot) const { return slot / width; }
  size_t begin(size_t rank) const { return rank * width; }
  size_t end(size_t rank) const { return (rank + 1) * width; }
  /// Returns whether `rank` holds `expert` in a slot other than `except` and
  /// `except2`.
  bool holds(size_t rank, int32_t expert, size_t except = SIZE_MAX,
             size_t except2 = SIZE_MAX) const;
  size_t mostLoadedRank() const { return falling.front(); }
  void sumUp(size_t rank);
  void fill();
  size_t makeRoomFor(int32_t expert);
  void put(size_t rank, int32_t expert);

  void descend(Steps &steps);
  void sortAll();
  void sortSlots(size_t rank);
  void sortRank(size_t rank);
  size_t lessLoadedRanks() const;
  template <typename ExchangeWith>
  void exchangeWithRanks(size_t end, const Exchange &best,
                         ExchangeWith exchangeWith) const;
  size_t takeSlots(Steps &steps) const;
  bool exchangeOne(Steps &steps);
  void exchangeOneWith(size_t other, size_t endSlot, Exchange &best) const;
  void tryOne(size_t from, size_t to, double worse, Exchange &best) const;
  size_t takeRanks(int64_t each, Steps &steps) const;
  bool exchangeTwo(Steps &steps);
  void exchangeTwoWith(size_t other, const std::vector<Pair> &ownPairs,
                       const std::vector<Pair> &pairs, Exchange &best) const;
  void findPairs(size_t rank, std::vector<Pair> &pairs) const;
  bool fits(const Pair &from, const Pair &to) const;
  void apply(const Exchange &exchange);

  bool replaceOne(Steps &steps);
  std::vector<Replacement> replacements(Steps &steps) const;
  void replace(size_t slot, int32_t expert);

  const Cell &cell;
  std::vector<int64_t> counts;
  /// The load of each replica of an expert, by expert.
  std::vector<double> shares;
  double target, epsilon;
  /// The number of slots per rank.
  size_t width;
  /// The expert in each slot; -1 if there is none yet.
  std::vector<int32_t> held;
  std::vector<double> loads;
  /// Orders that exist once all slots are filled: the slots of each rank by
  /// rising load of their replica (`rising`), and the ranks by falling load
  /// (`falling`).
  std::vector<Slot> rising;
  std::vector<size_t> falling;
};

} // namespace autopar::placement

#endif // AUTOPAR_LIB_PLACEMENT_PACKER_H
