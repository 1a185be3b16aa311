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

/// A lower bound of the mean amount that a device has to send until a layout is
/// the goal. The bound is consistent: a step never lowers it by more than the
/// step sends.
class LowerBound {
public:
  LowerBound(const ShardLayout &goal, const ReshardSpace &space,
             const Steps &steps);

  int64_t operator()(const ShardLayout &layout) const;
  /// Returns the bound that uses only the sizes of blocks and ignores their
  /// places.
  int64_t wherever(const ShardLayout &layout) const;
  /// Returns the bound that ignores the number of addends of sums.
  int64_t lacking(const ShardLayout &layout) const;

private:
  /// How a device's current block and its block of the goal are related.
  struct Digits {
    /// The number of digits of an element's place that one of the blocks fixes,
    /// and the number of axes that fix them.
    size_t fixed = 0, axes = 0;
    /// The number of equalities of coordinates that must hold for the blocks to
    /// overlap.
    size_t equalities = 0;
  };

  Digits digitsOf(const ShardLayout &layout) const;
  int64_t toPlace(const ShardLayout &layout, int64_t addends) const;
  int64_t toExchange(const ShardLayout &layout, bool inOrder) const;
  int64_t addendsOf(const ShardLayout &layout) const;
  /// Returns the cost of transferring each element once.
  int64_t once() const;
  /// Returns the fraction of `amount` in which `digits` digits have given
  /// values.
  int64_t shareOf(int64_t amount, size_t digits) const;

  const ShardLayout &goal;
  const ReshardSpace &space;
  const Steps &steps;
  /// The size of a device's block of the goal.
  int64_t wanted;
  /// Whether all axes have the same size. A place in a dimension is then a
  /// number with one digit for each axis that splits the dimension.
  bool areEqual;
};

} // namespace autopar::reshard

#endif // AUTOPAR_LIB_RESHARD_LOWERBOUND_H
