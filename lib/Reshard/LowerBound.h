//===- LowerBound.h - Lower bound of the bytes still to send ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_RESHARD_LOWERBOUND_H
#define AUTOPAR_LIB_RESHARD_LOWERBOUND_H

#include "Steps.h"

namespace autopar::reshard {

/// Lower bound of the mean bytes that a device has to send until a layout is
/// the goal. It is consistent: it never falls by more than a step sends.
class LowerBound {
public:
  LowerBound(const ShardLayout &goal, const ReshardSpace &space,
             const Steps &steps);

  int64_t operator()(const ShardLayout &layout) const;
  /// The bound from the sizes of blocks only, ignoring their places.
  int64_t wherever(const ShardLayout &layout) const;
  /// The bound that ignores the number of addends of sums.
  int64_t lacking(const ShardLayout &layout) const;

private:
  /// Relation of a device's block now and its block of the goal.
  struct Digits {
    /// The digits of an element's place that one of the blocks fixes, and the
    /// axes that fix them.
    size_t fixed = 0, axes = 0;
    /// Equalities of coordinates that are needed for the blocks to overlap.
    size_t equalities = 0;
  };

  Digits digitsOf(const ShardLayout &layout) const;
  int64_t toPlace(const ShardLayout &layout, int64_t addends) const;
  int64_t toExchange(const ShardLayout &layout, bool inOrder) const;
  int64_t addendsOf(const ShardLayout &layout) const;
  /// The cost of one transfer of each element.
  int64_t once() const;
  /// The fraction of `amount` with given values of that many digits.
  int64_t shareOf(int64_t amount, size_t digits) const;

  const ShardLayout &goal;
  const ReshardSpace &space;
  const Steps &steps;
  /// Size of a device's block of the goal.
  int64_t wanted;
  /// Whether all axes have one size: a place in a dimension is then a number
  /// with a digit for each axis that splits it.
  bool areEqual;
};

} // namespace autopar::reshard

#endif // AUTOPAR_LIB_RESHARD_LOWERBOUND_H
