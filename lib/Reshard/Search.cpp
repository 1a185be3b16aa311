//===- Search.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search.h"

#include <algorithm>
#include <tuple>

using namespace autopar;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

ReshardCost ReshardCost::after(ReshardKind kind, int64_t bytes) const {
  ReshardCost cost = *this;
  if (steps < 16)
    cost.kinds |= (static_cast<uint64_t>(kind) + 1) << (60 - 4 * steps);
  cost.sent += bytes;
  cost.moving += kind == ReshardKind::all_slice ? 0 : 1;
  ++cost.steps;
  return cost;
}

bool ReshardCost::operator<(const ReshardCost &other) const {
  return std::tie(sent, moving, steps, kinds) <
         std::tie(other.sent, other.moving, other.steps, other.kinds);
}

/// The queue gives its largest entry: the least estimate, then the oldest.
bool Search::Entry::operator<(const Entry &other) const {
  if (other.estimate < estimate)
    return true;
  return !(estimate < other.estimate) && other.node < node;
}

size_t Search::Hash::operator()(const ShardLayout &layout) const {
  uint64_t hash = 1469598103934665603u;
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  for (const Axes &axes : layout.dims) {
    for (AxisId axis : axes)
      mix(axis + 1u);
    mix(0);
  }
  for (AxisId axis : layout.partial)
    mix(axis + 1u);
  return hash;
}

/// Whether slices alone can make `split` that of the goal.
bool Search::canSlice(const Axes &split, size_t dim) const {
  const Axes &whole = goal.dims[dim];
  if (space.dims[dim].isSet)
    return without(split, whole).empty();
  return split.size() <= whole.size() &&
         std::equal(split.begin(), split.end(), whole.begin());
}

/// A device receives, and so on average sends, at least what its block of the
/// goal has more than its block now; or all of it, where its elements are not
/// yet the sums of several addends.
ReshardCost Search::toCome(const ShardLayout &layout) const {
  ReshardCost cost;
  bool sliced = layout.partial == goal.partial;
  uint32_t differing = 0;
  for (size_t dim = 0; dim < layout.dims.size(); ++dim) {
    sliced &= canSlice(layout.dims[dim], dim);
    differing += layout.dims[dim] != goal.dims[dim];
  }
  cost.steps = sliced ? differing : 1;
  cost.moving = sliced ? 0 : 1;
  bool summed = steps.product(without(layout.partial, goal.partial)) == 1;
  int64_t held = summed ? steps.local(layout) : 0;
  cost.sent = std::max<int64_t>(steps.local(goal) - held, 0);
  return cost;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// Remembers that `step` from the node `before` makes its layout at `cost`,
/// unless a cheaper way is known.
void Search::reach(ReshardStep step, size_t before, const ReshardCost &cost) {
  auto [it, isNew] = nodeOf.try_emplace(step.result, nodes.size());
  if (isNew)
    nodes.emplace_back();
  Node &node = nodes[it->second];
  if (!isNew && (node.done || !(cost < node.cost)))
    return;
  queue.push({cost + toCome(step.result), it->second});
  node.step = std::move(step);
  node.cost = cost;
  node.before = before;
}

std::optional<std::vector<ReshardStep>> Search::run() {
  ReshardStep begin;
  begin.result = start;
  reach(begin, 0, {});
  while (!queue.empty()) {
    size_t index = queue.top().node;
    queue.pop();
    if (nodes[index].done)
      continue;
    nodes[index].done = true;
    // `reach` moves the nodes.
    const ShardLayout layout = nodes[index].step.result;
    const ReshardCost cost = nodes[index].cost;
    if (layout == goal)
      return pathTo(index);
    bool within = steps.forEach(layout, [&](ReshardStep step) {
      int64_t sent = steps.sent(layout, step);
      ReshardCost next = cost.after(step.kind, sent);
      reach(std::move(step), index, next);
    });
    if (!within)
      return std::nullopt;
  }
  return std::nullopt;
}

std::vector<ReshardStep> Search::pathTo(size_t node) {
  std::vector<ReshardStep> path;
  for (; node != 0; node = nodes[node].before)
    path.push_back(std::move(nodes[node].step));
  std::reverse(path.begin(), path.end());
  return path;
}
