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

/// How a tensor lies over a mesh. An axis appears once, or not at all: then
/// its devices hold replicas.
struct ShardLayout {
  /// By dimension, the axes that split it, major first.
  std::vector<std::vector<program::AxisId>> dims;
  /// Axes over which the elements are partial sums; their order means nothing.
  std::vector<program::AxisId> partial;

  bool operator==(const ShardLayout &other) const {
    return dims == other.dims && partial == other.partial;
  }
};

/// The collectives of the `parallel` dialect. Of equally cheap sequences the
/// planner takes the first in the order of these.
enum class ReshardKind : uint8_t {
  /// Appends unused axes to the split of `to`.
  all_slice,
  /// Drops partial axes.
  all_reduce,
  /// Moves partial axes to the end of the split of `to`.
  reduce_scatter,
  /// Removes axes from the end of the split of `from`.
  all_gather,
  /// Moves axes from the end of the split of `from` to the end of that of `to`.
  all_to_all,
  /// Every device sends its block to another one and gets a block of the same
  /// size: partial axes stay, and every dimension keeps its number of blocks.
  /// Such devices can be told off in pairs: with p the coordinates along
  /// partial axes, each (p, block) is held by as many devices before as after.
  permute,
};

std::string_view nameOf(ReshardKind kind);

struct ReshardStep {
  ReshardKind kind = ReshardKind::all_slice;
  /// The dimensions that lose and that get axes, where the kind has them.
  size_t from = 0, to = 0;
  /// In the order of the split; of a permute, the axes between the first and
  /// the last that change in a dimension: no block leaves a group of these.
  std::vector<program::AxisId> axes;
  /// The layout after the step. Sets and partial axes are sorted.
  ShardLayout result;
};

/// The splits that a dimension may have on the way, besides none.
enum class WaySplits : uint8_t {
  /// Any: extents that may be split unevenly.
  any,
  /// Some of the axes of the start, or some of those of the goal: their
  /// number divides the extent where the start's and the goal's do.
  subsets,
  /// All axes of the start, or all of the goal.
  ends,
};

struct ReshardDim {
  /// The axes have no order: any of them can be removed.
  bool isSet = false;
  WaySplits way = WaySplits::any;
};

/// What the planner may use.
struct ReshardSpace {
  /// All axes here may be used, also those that neither layout has.
  std::vector<int64_t> axisSizes;
  /// The sizes stand for any others: no two axes are known to be equal, and
  /// permutes only reorder the axes of a dimension.
  bool nominal = false;
  /// By dimension.
  std::vector<ReshardDim> dims;
};

struct ReshardPlan {
  std::vector<ReshardStep> steps;
  /// What a device sends in all, by rings, in parts of the whole tensor:
  /// `sent / whole`.
  int64_t sent = 0, whole = 1;
  /// False where `limits::maxReshardSteps` stopped the search: the steps are
  /// then reduce, gather, slice.
  bool cheapest = true;
};

/// The steps from one layout to another that send the fewest bytes; of those
/// the fewest that move any; of those the fewest; of those the first kinds.
/// Fails on layouts that do not fit the space, and on a goal with partial axes
/// that the start does not have.
Result<ReshardPlan> planReshard(ShardLayout from, ShardLayout to,
                                const ReshardSpace &space);

/// Plans of reshards, each made once. Not to be shared between threads.
class KnownReshards {
public:
  /// As `planReshard`.
  const Result<ReshardPlan> &plan(const ShardLayout &from,
                                  const ShardLayout &to,
                                  const ReshardSpace &space);

private:
  std::unordered_map<std::string, Result<ReshardPlan>> plans;
};

} // namespace autopar::reshard

#endif // AUTOPAR_RESHARD_PLANNER_H
