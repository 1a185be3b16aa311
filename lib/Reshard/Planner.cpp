//===- Planner.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Reshard/Planner.h"

#include "Search.h"

#include "autopar/Support/Bytes.h"
#include "autopar/Support/Checked.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::reshard;

std::string_view autopar::reshard::nameOf(ReshardKind kind) {
  switch (kind) {
  case ReshardKind::all_slice:
    return "all_slice";
  case ReshardKind::all_reduce:
    return "all_reduce";
  case ReshardKind::reduce_scatter:
    return "reduce_scatter";
  case ReshardKind::all_gather:
    return "all_gather";
  case ReshardKind::all_to_all:
    return "all_to_all";
  case ReshardKind::permute:
    return "permute";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Checks of the input
//===----------------------------------------------------------------------===//

static std::optional<Error> checkSpace(const ReshardSpace &space) {
  if (space.axisSizes.size() > limits::maxMeshAxes)
    return Error{"",
                 "a mesh of " + std::to_string(space.axisSizes.size()) +
                     " axes, expected at most " +
                     std::to_string(limits::maxMeshAxes),
                 ""};
  Checked devices = 1;
  for (int64_t size : space.axisSizes) {
    if (size < 1)
      return Error{"",
                   "an axis of size " + std::to_string(size) +
                       ", expected at least 1",
                   ""};
    devices *= size;
  }
  if (!devices.valid() || devices > limits::maxDevices)
    return Error{"",
                 "a mesh of " + devices.str() + " devices, expected at most " +
                     std::to_string(limits::maxDevices),
                 ""};
  return std::nullopt;
}

static std::optional<Error> checkLayout(const ShardLayout &layout,
                                        const ReshardSpace &space) {
  if (layout.dims.size() != space.dims.size())
    return Error{"",
                 "a layout of rank " + std::to_string(layout.dims.size()) +
                     ", expected " + std::to_string(space.dims.size()),
                 ""};
  std::vector<bool> used(space.axisSizes.size());
  std::vector<Axes> lists = layout.dims;
  lists.push_back(layout.partial);
  for (const Axes &axes : lists)
    for (AxisId axis : axes) {
      if (axis >= used.size())
        return Error{"",
                     "axis " + std::to_string(axis) + " of a mesh of " +
                         std::to_string(used.size()),
                     ""};
      if (used[axis])
        return Error{"", "axis " + std::to_string(axis) + " appears twice", ""};
      used[axis] = true;
    }
  return std::nullopt;
}

static std::optional<Error> check(const ShardLayout &from,
                                  const ShardLayout &to,
                                  const ReshardSpace &space) {
  if (auto error = checkSpace(space))
    return error;
  for (const ShardLayout *layout : {&from, &to})
    if (auto error = checkLayout(*layout, space))
      return error;
  Axes made = without(to.partial, from.partial);
  if (!made.empty())
    return Error{"",
                 "makes a partial sum over axis " +
                     std::to_string(made.front()) + " of whole values",
                 ""};
  return std::nullopt;
}

/// Sorts those axes whose order does not matter.
static void sort(ShardLayout &layout, const ReshardSpace &space) {
  std::sort(layout.partial.begin(), layout.partial.end());
  for (size_t dim = 0; dim < layout.dims.size(); ++dim)
    if (space.dims[dim].isSet)
      std::sort(layout.dims[dim].begin(), layout.dims[dim].end());
}

//===----------------------------------------------------------------------===//
// A plan without a search
//===----------------------------------------------------------------------===//

/// Returns the axes of `now` that stay if only gathers and slices lead to
/// `then`.
static Axes kept(const Axes &now, const Axes &then, bool isSet) {
  if (isSet)
    return common(now, then);
  auto end = std::mismatch(now.begin(), now.end(), then.begin(), then.end());
  return Axes(now.begin(), end.first);
}

/// Plans a reduce, gathers of removed axes, and slices of new axes.
static std::vector<ReshardStep> planPlainly(const ShardLayout &from,
                                            const ShardLayout &to,
                                            const ReshardSpace &space,
                                            const Steps &steps) {
  std::vector<ReshardStep> plan;
  ShardLayout now = from;
  auto add = [&](ReshardKind kind, size_t dim, Axes axes) {
    if (axes.empty())
      return;
    plan.push_back(steps.make(kind, now, dim, dim, std::move(axes)));
    now = plan.back().result;
  };
  add(ReshardKind::all_reduce, 0, without(from.partial, to.partial));
  for (size_t dim = 0; dim < to.dims.size(); ++dim) {
    Axes stay = kept(now.dims[dim], to.dims[dim], space.dims[dim].isSet);
    if (!steps.allows(dim, stay))
      stay.clear();
    add(ReshardKind::all_gather, dim, without(now.dims[dim], stay));
  }
  for (size_t dim = 0; dim < to.dims.size(); ++dim)
    add(ReshardKind::all_slice, dim, without(to.dims[dim], now.dims[dim]));
  return plan;
}

Result<ReshardPlan> autopar::reshard::planReshard(ShardLayout from,
                                                  ShardLayout to,
                                                  const ReshardSpace &space) {
  if (auto error = check(from, to, space))
    return *error;
  sort(from, space);
  sort(to, space);
  Steps steps(from, to, space);
  ReshardPlan plan;
  if (auto cheapest = Search(from, to, space, steps).run()) {
    plan.steps = std::move(*cheapest);
  } else {
    plan.steps = planPlainly(from, to, space, steps);
    plan.cheapest = false;
  }
  plan.whole = steps.whole();
  const ShardLayout *now = &from;
  for (const ReshardStep &step : plan.steps) {
    plan.sent += steps.sent(*now, step);
    now = &step.result;
  }
  return plan;
}

const Result<ReshardPlan> &KnownReshards::plan(const ShardLayout &from,
                                               const ShardLayout &to,
                                               const ReshardSpace &space) {
  ByteWriter key;
  key(from.dims, from.partial, to.dims, to.partial, space.axisSizes,
      space.nominal, space.dims);
  auto known = plans.find(key.bytes);
  if (known == plans.end())
    known =
        plans.emplace(std::move(key.bytes), planReshard(from, to, space)).first;
  return known->second;
}
