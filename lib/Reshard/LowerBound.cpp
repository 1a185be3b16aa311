//===- LowerBound.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerBound.h"

#include <algorithm>
#include <array>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::reshard;

namespace {

/// Collects pairs of coordinates that have to be equal.
class Equalities {
public:
  explicit Equalities(size_t axes) {
    for (size_t axis = 0; axis < axes; ++axis)
      parent[axis] = static_cast<AxisId>(axis);
  }

  /// Returns the number of equalities that do not follow from other ones.
  size_t count() const { return independent; }

  void add(AxisId one, AxisId other) {
    one = rootOf(one);
    other = rootOf(other);
    independent += one != other;
    parent[one] = other;
  }

private:
  AxisId rootOf(AxisId axis) const {
    while (parent[axis] != axis)
      axis = parent[axis];
    return axis;
  }

  std::array<AxisId, limits::maxMeshAxes> parent;
  size_t independent = 0;
};

} // namespace

LowerBound::LowerBound(const ShardLayout &goal, const ReshardSpace &space,
                       const Steps &steps)
    : goal(goal), space(space), steps(steps), wanted(steps.local(goal)),
      areEqual(true) {
  for (int64_t size : space.axisSizes)
    areEqual &= size == space.axisSizes.front();
}

int64_t LowerBound::addendsOf(const ShardLayout &layout) const {
  return steps.product(without(layout.partial, goal.partial));
}

int64_t LowerBound::once() const {
  return steps.whole() / steps.devices() * steps.product(goal.partial);
}

int64_t LowerBound::shareOf(int64_t amount, size_t digits) const {
  for (; digits != 0; --digits)
    amount /= space.axisSizes.front();
  return amount;
}

/// In a list, the axes at one position of both splits fix the same digit of an
/// element's place; in a set, each axis fixes a digit of its own.
LowerBound::Digits LowerBound::digitsOf(const ShardLayout &layout) const {
  Equalities equal(space.axisSizes.size());
  Digits digits;
  std::array<bool, limits::maxMeshAxes> used = {};
  for (size_t dim = 0; dim < layout.dims.size(); ++dim) {
    const Axes &now = layout.dims[dim], &then = goal.dims[dim];
    for (const Axes *axes : {&now, &then})
      for (AxisId axis : *axes) {
        digits.axes += !used[axis];
        used[axis] = true;
      }
    if (space.dims[dim].isSet) {
      digits.fixed += now.size() + without(then, now).size();
      continue;
    }
    digits.fixed += std::max(now.size(), then.size());
    for (size_t i = 0; i < std::min(now.size(), then.size()); ++i)
      equal.add(now[i], then[i]);
  }
  digits.equalities = equal.count();
  return digits;
}

/// Returns what a device must receive: the part of its block of the goal that
/// it does not hold, or the whole block if its elements have to be summed.
int64_t LowerBound::lacking(const ShardLayout &layout) const {
  int64_t held = addendsOf(layout) == 1 ? steps.local(layout) : 0;
  return std::max<int64_t>(wanted - held, 0);
}

/// Returns a lower bound of the amount sent for axes that leave their
/// dimension: all but the share of a block that stays. With `inOrder`, an axis
/// of a list stays only if all axes before it stay.
int64_t LowerBound::toExchange(const ShardLayout &layout, bool inOrder) const {
  int64_t sent = 0;
  for (size_t dim = 0; dim < layout.dims.size(); ++dim) {
    const Axes &now = layout.dims[dim], &then = goal.dims[dim];
    int64_t parts = 1;
    bool first = true;
    for (size_t i = 0; i < now.size(); ++i) {
      first &= i < then.size() && now[i] == then[i];
      bool stays =
          inOrder && !space.dims[dim].isSet ? first : contains(then, now[i]);
      parts *= stays ? 1 : space.axisSizes[now[i]];
    }
    sent += once() - once() / parts;
  }
  return sent;
}

/// Returns the bound from block sizes. The addends of an element meet on one
/// device, and their sum goes to all devices that want it: this takes one
/// transfer for each addend but one, and one for each device but one.
int64_t LowerBound::wherever(const ShardLayout &layout) const {
  int64_t addends = addendsOf(layout);
  int64_t summed = lacking(layout) + std::max<int64_t>(addends - 2, 0) * once();
  // Permutes of unknown sizes leave axes in their dimensions.
  int64_t exchanged = space.nominal ? toExchange(layout, false) : 0;
  return std::max(summed, (addends - 1) * once() + exchanged);
}

/// Returns a bound from the places of blocks. Two blocks overlap if the digits
/// that both fix are equal; one block then contains the other. If no device
/// that wants a sum has an addend, one more transfer is needed; this is so if
/// an axis fixes two digits that differ.
int64_t LowerBound::toPlace(const ShardLayout &layout, int64_t addends) const {
  if (!areEqual)
    return 0;
  Digits digits = digitsOf(layout);
  size_t either = digits.fixed + digits.equalities;
  if (addends == 1)
    return wanted - shareOf(steps.whole(), either);
  return wanted + (addends - 1) * once() -
         shareOf(once(), either - digits.axes);
}

int64_t LowerBound::operator()(const ShardLayout &layout) const {
  int64_t addends = addendsOf(layout);
  int64_t permuted = once() + (space.nominal ? toExchange(layout, false) : 0);
  int64_t exchanged = std::min(toExchange(layout, true), permuted);
  return std::max({wherever(layout), toPlace(layout, addends),
                   (addends - 1) * once() + exchanged});
}
