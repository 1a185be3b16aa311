//===- Steps.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::reshard;

//===----------------------------------------------------------------------===//
// Operations on lists of axes
//===----------------------------------------------------------------------===//

bool autopar::reshard::contains(const Axes &axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Axes autopar::reshard::common(const Axes &axes, const Axes &others) {
  Axes both;
  for (AxisId axis : axes)
    if (contains(others, axis))
      both.push_back(axis);
  return both;
}

Axes autopar::reshard::without(const Axes &axes, const Axes &others) {
  Axes rest;
  for (AxisId axis : axes)
    if (!contains(others, axis))
      rest.push_back(axis);
  return rest;
}

/// Returns whether `others` contains all of `axes`.
static bool isSubset(const Axes &axes, const Axes &others) {
  return std::all_of(axes.begin(), axes.end(),
                     [&](AxisId axis) { return contains(others, axis); });
}

//===----------------------------------------------------------------------===//
// Results and costs of steps
//===----------------------------------------------------------------------===//

Steps::Steps(const ShardLayout &from, const ShardLayout &to,
             const ReshardSpace &space)
    : start(from), goal(to), space(space) {
  for (int64_t size : space.axisSizes)
    numDevices *= size;
}

static bool loses(ReshardKind kind) {
  return kind == ReshardKind::all_gather || kind == ReshardKind::all_to_all;
}

static bool reduces(ReshardKind kind) {
  return kind == ReshardKind::all_reduce || kind == ReshardKind::reduce_scatter;
}

static bool gains(ReshardKind kind) {
  return kind == ReshardKind::all_slice ||
         kind == ReshardKind::reduce_scatter || kind == ReshardKind::all_to_all;
}

ReshardStep Steps::make(ReshardKind kind, const ShardLayout &layout,
                        size_t from, size_t to, Axes axes) const {
  ReshardStep step{kind, from, to, std::move(axes), layout};
  if (loses(kind))
    step.result.dims[from] = without(layout.dims[from], step.axes);
  if (reduces(kind))
    step.result.partial = without(layout.partial, step.axes);
  if (gains(kind)) {
    Axes &split = step.result.dims[to];
    split.insert(split.end(), step.axes.begin(), step.axes.end());
    if (space.dims[to].isSet)
      std::sort(split.begin(), split.end());
  }
  return step;
}

bool Steps::allows(size_t dim, const Axes &axes) const {
  if (axes.empty() || space.dims[dim].way == WaySplits::any)
    return true;
  for (const Axes *end : {&start.dims[dim], &goal.dims[dim]})
    if (isSubset(axes, *end) && (space.dims[dim].way == WaySplits::subsets ||
                                 axes.size() == end->size()))
      return true;
  return false;
}

int64_t Steps::product(const Axes &axes) const {
  int64_t product = 1;
  for (AxisId axis : axes)
    product *= space.axisSizes[axis];
  return product;
}

int64_t Steps::local(const ShardLayout &layout) const {
  int64_t local = whole();
  for (const Axes &axes : layout.dims)
    local /= product(axes);
  return local;
}

/// Returns the amount that a ring algorithm sends (Thakur et al. (2005),
/// section 4). All divisions are exact, because `n` and the number of blocks
/// each divide the number of devices.
int64_t Steps::sent(const ShardLayout &layout, const ReshardStep &step) const {
  int64_t held = local(layout), n = product(step.axes);
  switch (step.kind) {
  case ReshardKind::all_slice:
    return 0;
  case ReshardKind::all_reduce:
    return 2 * (n - 1) * (held / n);
  case ReshardKind::reduce_scatter:
  case ReshardKind::all_to_all:
    return (n - 1) * (held / n);
  case ReshardKind::all_gather:
    return (n - 1) * held;
  case ReshardKind::permute:
    return held;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Enumeration of all steps
//===----------------------------------------------------------------------===//

bool Steps::visitAllowed(const Visit &visit, ReshardStep step) {
  if ((!loses(step.kind) || allows(step.from, step.result.dims[step.from])) &&
      (!gains(step.kind) || allows(step.to, step.result.dims[step.to])))
    visit(std::move(step));
  return spend();
}

/// Calls `list` with every non-empty list of axes of `pool`, in all orders if
/// `ordered`, else only in the order of the pool.
template <typename List>
bool Steps::forEachList(const Axes &pool, bool ordered, Axes &chosen,
                        size_t first, List list) {
  for (size_t i = ordered ? 0 : first; i < pool.size(); ++i) {
    if (contains(chosen, pool[i]))
      continue;
    chosen.push_back(pool[i]);
    if (!list(chosen) || !forEachList(pool, ordered, chosen, i + 1, list))
      return false;
    chosen.pop_back();
  }
  return true;
}

/// Visits the steps that append axes of `pool` to any dimension.
bool Steps::visitAppends(ReshardKind kind, const ShardLayout &layout,
                         const Axes &pool, const Visit &visit) {
  for (size_t to = 0; to < layout.dims.size(); ++to) {
    Axes chosen;
    auto append = [&](const Axes &axes) {
      return visitAllowed(visit, make(kind, layout, 0, to, axes));
    };
    if (!forEachList(pool, !space.dims[to].isSet, chosen, 0, append))
      return false;
  }
  return true;
}

bool Steps::visitSlices(const ShardLayout &layout, const Visit &visit) {
  Axes unused;
  for (size_t axis = 0; axis < space.axisSizes.size(); ++axis)
    unused.push_back(static_cast<AxisId>(axis));
  unused = without(unused, layout.partial);
  for (const Axes &axes : layout.dims)
    unused = without(unused, axes);
  return visitAppends(ReshardKind::all_slice, layout, unused, visit);
}

bool Steps::visitReductions(const ShardLayout &layout, const Visit &visit) {
  Axes pending = without(layout.partial, goal.partial), chosen;
  auto reduce = [&](const Axes &axes) {
    return visitAllowed(visit,
                        make(ReshardKind::all_reduce, layout, 0, 0, axes));
  };
  return forEachList(pending, false, chosen, 0, reduce) &&
         visitAppends(ReshardKind::reduce_scatter, layout, pending, visit);
}

/// Visits the steps that move `axes` away from dimension `from`: axes at the
/// end of its list, or any axes of a set.
bool Steps::visitExchanges(const ShardLayout &layout, size_t from,
                           const Axes &axes, const Visit &visit) {
  if (!visitAllowed(visit,
                    make(ReshardKind::all_gather, layout, from, 0, axes)))
    return false;
  for (size_t to = 0; to < layout.dims.size(); ++to) {
    if (to == from)
      continue;
    // Axes that move from a set to a list may take any order there.
    Axes order = axes;
    do
      if (!visitAllowed(visit,
                        make(ReshardKind::all_to_all, layout, from, to, order)))
        return false;
    while (space.dims[from].isSet && !space.dims[to].isSet &&
           std::next_permutation(order.begin(), order.end()));
  }
  return true;
}

bool Steps::visitRemovals(const ShardLayout &layout, const Visit &visit) {
  for (size_t from = 0; from < layout.dims.size(); ++from) {
    const Axes &split = layout.dims[from];
    auto remove = [&](const Axes &axes) {
      return visitExchanges(layout, from, axes, visit);
    };
    Axes chosen;
    if (space.dims[from].isSet) {
      if (!forEachList(split, false, chosen, 0, remove))
        return false;
      continue;
    }
    for (auto suffix = split.end(); suffix != split.begin();)
      if (!remove(Axes(--suffix, split.end())))
        return false;
  }
  return true;
}

/// Returns the axes that change in any dimension: in a list, those from the
/// first to the last that changes.
static Axes changedAxes(const ShardLayout &before, const ShardLayout &after) {
  Axes changed;
  for (size_t dim = 0; dim < before.dims.size(); ++dim) {
    Axes old = before.dims[dim], now = after.dims[dim];
    while (!old.empty() && !now.empty() && old.back() == now.back()) {
      old.pop_back();
      now.pop_back();
    }
    size_t first = 0;
    while (first < std::min(old.size(), now.size()) && old[first] == now[first])
      ++first;
    for (const Axes &axes : {old, now})
      for (size_t i = first; i < axes.size(); ++i)
        if (!contains(changed, axes[i]))
          changed.push_back(axes[i]);
  }
  return changed;
}

/// Returns whether the result of a permute may split dimension `dim` next over
/// `axis`. The axes that are still to be chosen must cut the dimension into
/// `blocks` parts.
bool Steps::fits(const ShardLayout &layout, size_t dim, int64_t blocks,
                 AxisId axis, const ShardLayout &result) const {
  if (space.nominal && !contains(layout.dims[dim], axis))
    return false;
  if (blocks % space.axisSizes[axis] || contains(layout.partial, axis))
    return false;
  for (size_t i = 0; i <= dim; ++i)
    if (contains(result.dims[i], axis))
      return false;
  const Axes &chosen = result.dims[dim];
  return !space.dims[dim].isSet || chosen.empty() || chosen.back() < axis;
}

/// Chooses the axes of `dim` and of the dimensions after it.
bool Steps::visitPermutes(const ShardLayout &layout, size_t dim, int64_t blocks,
                          ShardLayout &result, const Visit &visit) {
  if (dim == layout.dims.size()) {
    if (!(result == layout))
      visit({ReshardKind::permute, 0, 0, changedAxes(layout, result), result});
    return spend();
  }
  Axes &chosen = result.dims[dim];
  bool enough =
      space.nominal ? chosen.size() == layout.dims[dim].size() : blocks == 1;
  if (enough && allows(dim, chosen)) {
    bool last = dim + 1 == layout.dims.size();
    int64_t next = last ? 1 : product(layout.dims[dim + 1]);
    if (!visitPermutes(layout, dim + 1, next, result, visit))
      return false;
  }
  for (size_t i = 0; i < space.axisSizes.size(); ++i) {
    auto axis = static_cast<AxisId>(i);
    if (!fits(layout, dim, blocks, axis, result))
      continue;
    chosen.push_back(axis);
    if (!visitPermutes(layout, dim, blocks / space.axisSizes[axis], result,
                       visit))
      return false;
    chosen.pop_back();
  }
  return spend();
}

bool Steps::forEachOther(const ShardLayout &layout, const Visit &visit) {
  return visitSlices(layout, visit) && visitReductions(layout, visit) &&
         visitRemovals(layout, visit);
}

bool Steps::forEachPermute(const ShardLayout &layout, const Visit &visit) {
  ShardLayout result;
  result.dims.resize(layout.dims.size());
  result.partial = layout.partial;
  int64_t blocks = layout.dims.empty() ? 1 : product(layout.dims.front());
  return visitPermutes(layout, 0, blocks, result, visit);
}
