//===- Steps.h - All steps from a layout ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_RESHARD_STEPS_H
#define AUTOPAR_LIB_RESHARD_STEPS_H

#include "autopar/Reshard/Planner.h"
#include "autopar/Support/Limits.h"

#include <functional>

namespace autopar::reshard {

using Axes = std::vector<program::AxisId>;

bool contains(const Axes &axes, program::AxisId axis);
/// Return those of `axes` that are in `others` (`common`), or that are not
/// (`without`).
Axes common(const Axes &axes, const Axes &others);
Axes without(const Axes &axes, const Axes &others);

/// Enumerates the steps from layouts between `from` and `to`, with the amount
/// that they send. The sets and the partial axes of layouts must be sorted.
class Steps {
public:
  Steps(const ShardLayout &from, const ShardLayout &to,
        const ReshardSpace &space);

  using Visit = std::function<void(ReshardStep step)>;
  /// Visit all permutes, or all other steps, in a fixed order, except steps
  /// that drop a partial axis of the goal. Return false once they have visited
  /// more than `limits::maxReshardSteps` steps in total.
  bool forEachPermute(const ShardLayout &layout, const Visit &visit);
  bool forEachOther(const ShardLayout &layout, const Visit &visit);

  ReshardStep make(ReshardKind kind, const ShardLayout &layout, size_t from,
                   size_t to, Axes axes) const;
  /// Returns whether dimension `dim` may be split over `axes`.
  bool allows(size_t dim, const Axes &axes) const;

  /// Returns the size of the whole tensor, in units in which all sizes are
  /// integers: the square of the number of devices.
  int64_t whole() const { return numDevices * numDevices; }
  int64_t devices() const { return numDevices; }
  /// Returns the size of a device's block, in these units.
  int64_t local(const ShardLayout &layout) const;
  /// Returns the amount that a device sends, in these units.
  int64_t sent(const ShardLayout &layout, const ReshardStep &step) const;
  int64_t product(const Axes &axes) const;

private:
  template <typename List>
  bool forEachList(const Axes &pool, bool ordered, Axes &chosen, size_t first,
                   List list);
  bool visitSlices(const ShardLayout &layout, const Visit &visit);
  bool visitReductions(const ShardLayout &layout, const Visit &visit);
  bool visitRemovals(const ShardLayout &layout, const Visit &visit);
  bool visitExchanges(const ShardLayout &layout, size_t from, const Axes &axes,
                      const Visit &visit);
  bool visitAppends(ReshardKind kind, const ShardLayout &layout,
                    const Axes &pool, const Visit &visit);
  bool visitPermutes(const ShardLayout &layout, size_t dim, int64_t blocks,
                     ShardLayout &result, const Visit &visit);
  bool fits(const ShardLayout &layout, size_t dim, int64_t blocks,
            program::AxisId axis, const ShardLayout &result) const;
  /// Visits a step, unless the limit is reached. Returns whether another step
  /// may be visited.
  bool visitAllowed(const Visit &visit, ReshardStep step);
  bool spend() { return --budget >= 0; }

  const ShardLayout &start, &goal;
  const ReshardSpace &space;
  int64_t numDevices = 1;
  int64_t budget = limits::maxReshardSteps;
};

} // namespace autopar::reshard

#endif // AUTOPAR_LIB_RESHARD_STEPS_H
