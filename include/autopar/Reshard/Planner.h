//===- Planner.h - The cheapest way to another layout -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RESHARD_PLANNER_H
#define AUTOPAR_RESHARD_PLANNER_H

#include "autopar/Program/Dim.h"
#include "autopar/Support/Result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace autopar::reshard {

/// How a tensor is laid out on a mesh. Each axis occurs at most once; devices
/// along an axis that does not occur hold replicas.
struct ShardLayout {
  /// For each dimension, the axes that split it, major first.
  std::vector<std::vector<program::AxisId>> dims;
  /// Axes over which the elements are partial sums, in any order.
  std::vector<program::AxisId> partial;

  bool operator==(const ShardLayout &other) const {
    return dims == other.dims && partial == other.partial;
  }
};

/// The collectives of the `parallel` dialect. Of equally cheap sequences, the
/// planner prefers the kinds that come first here.
enum class ReshardKind : uint8_t {
  /// Appends unused axes to the split of dimension `to`; no device sends
  /// anything.
  all_slice,
  /// Sums over partial axes, so that every device gets the sum.
  all_reduce,
  /// Sums over partial axes, and appends them to the split of dimension `to`.
  reduce_scatter,
  /// Removes axes from the end of the split of dimension `from`.
  all_gather,
  /// Moves axes from the end of the split of dimension `from` to the end of
  /// that of dimension `to`.
  all_to_all,
  /// Every device sends its block to another one and receives a block of the
  /// same size: partial axes stay, and every dimension keeps its number of
  /// blocks. Devices can be paired like that if, with p the coordinates along
  /// partial axes, each (p, block) is held by equally many devices before and
  /// after.
  permute,
};

std::string_view nameOf(ReshardKind kind);

struct ReshardStep {
  ReshardKind kind = ReshardKind::all_slice;
  /// The dimensions that lose (`from`) and gain (`to`) axes, if the kind has
  /// them.
  size_t from = 0, to = 0;
  /// The axes of the collective, in the order of the split. For a permute, the
  /// axes between the first and the last that change in a dimension: no block
  /// leaves a group of these.
  std::vector<program::AxisId> axes;
  /// The layout after the step. Sets and partial axes are sorted.
  ShardLayout result;
};

/// The splits that a dimension may have in intermediate steps; it may always be
/// unsplit.
enum class WaySplits : uint8_t {
  /// Any split; for extents that may be split unevenly.
  any,
  /// Subsets of the start's axes, or of the goal's: their product divides the
  /// extent if that of the start or the goal does.
  subsets,
  /// All axes of the start, or all axes of the goal.
  ends,
};

struct ReshardDim {
  /// Whether the axes have no order, so that any of them can be removed.
  bool isSet = false;
  WaySplits way = WaySplits::any;
};

/// The layouts that the planner may use.
struct ReshardSpace {
  /// Sizes of all axes that may be used, including axes that neither start nor
  /// goal has.
  std::vector<int64_t> axisSizes;
  /// Whether the sizes stand for any other sizes: then no two axes are known to
  /// be equal, and a permute can only reorder the axes of a dimension.
  bool nominal = false;
  /// What intermediate layouts may do with each dimension.
  std::vector<ReshardDim> dims;
};

struct ReshardPlan {
  std::vector<ReshardStep> steps;
  /// Bytes that a device sends in all steps, by ring algorithms, as the
  /// fraction `sent / whole` of the whole tensor.
  int64_t sent = 0, whole = 1;
  /// False if `limits::maxReshardSteps` stopped the search: the steps are then
  /// reduce, gather, slice.
  bool cheapest = true;
};

/// Returns the steps from one layout to another that send the fewest bytes.
/// Ties are broken by the fewest steps that move bytes, then by the fewest
/// steps, then by the kinds that come first in `ReshardKind`. Fails for layouts
/// that are not in the space, and for a goal with partial axes that the start
/// does not have.
Result<ReshardPlan> planReshard(ShardLayout from, ShardLayout to,
                                const ReshardSpace &space);

/// A cache of reshard plans, each of which is made once. Not thread-safe.
class KnownReshards {
public:
  /// Returns the plan of `planReshard` for these arguments.
  const Result<ReshardPlan> &plan(const ShardLayout &from,
                                  const ShardLayout &to,
                                  const ReshardSpace &space);

private:
  std::unordered_map<std::string, Result<ReshardPlan>> plans;
};

} // namespace autopar::reshard

#endif // AUTOPAR_RESHARD_PLANNER_H
