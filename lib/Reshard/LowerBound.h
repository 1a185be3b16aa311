//===- LowerBound.h - What is still to be sent, at least --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_RESHARD_LOWERBOUND_H
#define AUTOPAR_LIB_RESHARD_LOWERBOUND_H

#include "Steps.h"

namespace autopar::reshard {

/// What a device has still to send, at least and on average, until a layout is
/// the goal. It never falls by more than a step sends.
class LowerBound {
public:
  LowerBound(const ShardLayout &goal, const ReshardSpace &space,
             const Steps &steps);

  int64_t operator()(const ShardLayout &layout) const;
  /// The same, wherever the blocks lie that devices hold.
  int64_t wherever(const ShardLayout &layout) const;
  /// The same, however many addends sums have.
  int64_t lacking(const ShardLayout &layout) const;

private:
  /// Of a device's block now and its block of the goal.
  struct Digits {
    /// The digits of an element's place that one of them fixes, and the axes
    /// that do.
    size_t fixed = 0, axes = 0;
    /// Equalities of coordinates without which the two have nothing in common.
    size_t equalities = 0;
  };

  Digits digitsOf(const ShardLayout &layout) const;
  int64_t toPlace(const ShardLayout &layout, int64_t addends) const;
  int64_t toExchange(const ShardLayout &layout, bool inOrder) const;
  int64_t addendsOf(const ShardLayout &layout) const;
  /// One transfer of each element, in all.
  int64_t once() const;
  /// A share of `amount`, that of one in so many digits.
  int64_t shareOf(int64_t amount, size_t digits) const;

  const ShardLayout &goal;
  const ReshardSpace &space;
  const Steps &steps;
  /// What a device holds in the end.
  int64_t wanted;
  /// Whether all axes have one size: a place in a dimension is then a number
  /// with a digit for each axis that splits it.
  bool areEqual;
};

} // namespace autopar::reshard

#endif // AUTOPAR_LIB_RESHARD_LOWERBOUND_H
