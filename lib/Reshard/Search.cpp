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
using namespace autopar::program;
using namespace autopar::reshard;

//===----------------------------------------------------------------------===//
// Costs of steps
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

/// Orders the entries of the queue such that the top has the lowest estimate
/// and, of those, is the oldest.
bool Search::Entry::operator<(const Entry &other) const {
  if (estimate < other.estimate || other.estimate < estimate)
    return other.estimate < estimate;
  if (lacking != other.lacking)
    return other.lacking < lacking;
  return other.node < node;
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

/// Returns whether slices alone can turn `split` into the split of the goal.
bool Search::canSlice(const Axes &split, size_t dim) const {
  const Axes &whole = goal.dims[dim];
  if (space.dims[dim].isSet)
    return without(split, whole).empty();
  return split.size() <= whole.size() &&
         std::equal(split.begin(), split.end(), whole.begin());
}

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
  cost.sent = toSend(layout);
  return cost;
}

//===----------------------------------------------------------------------===//
// The search itself
//===----------------------------------------------------------------------===//

/// Records that `step`, from the node `before`, reaches its layout at `cost`,
/// unless a cheaper path to this layout is known.
void Search::reach(ReshardStep step, size_t before, const ReshardCost &cost) {
  auto [it, isNew] = nodeOf.try_emplace(step.result, nodes.size());
  if (isNew)
    nodes.emplace_back();
  Node &node = nodes[it->second];
  if (!isNew && (node.done || !(cost < node.cost)))
    return;
  queue.push({cost + toCome(step.result),
              cost.sent + toSend.lacking(step.result), it->second, false});
  node.step = std::move(step);
  node.cost = cost;
  node.before = before;
}

/// Postpones the permutes of a node, which are many and cost the same, until
/// this cost is the lowest in the queue.
void Search::postpone(const Entry &entry) {
  const ShardLayout &layout = nodes[entry.node].step.result;
  ReshardCost cost =
      nodes[entry.node].cost.after(ReshardKind::permute, steps.local(layout));
  int64_t lacking = cost.sent + toSend.lacking(layout);
  cost.sent += toSend.wherever(layout);
  queue.push({cost, lacking, entry.node, true});
}

bool Search::expand(const Entry &entry) {
  // The layout and cost are copied, because `reach` invalidates references to
  // nodes.
  const ShardLayout layout = nodes[entry.node].step.result;
  const ReshardCost cost = nodes[entry.node].cost;
  auto visit = [&](ReshardStep step) {
    int64_t sent = steps.sent(layout, step);
    ReshardCost next = cost.after(step.kind, sent);
    reach(std::move(step), entry.node, next);
  };
  if (entry.permutes)
    return steps.forEachPermute(layout, visit);
  postpone(entry);
  return steps.forEachOther(layout, visit);
}

std::optional<std::vector<ReshardStep>> Search::run() {
  ReshardStep begin;
  begin.result = start;
  reach(begin, 0, {});
  while (!queue.empty()) {
    Entry next = queue.top();
    queue.pop();
    Node &node = nodes[next.node];
    if (node.done && !next.permutes)
      continue;
    node.done = true;
    if (node.step.result == goal)
      return pathTo(next.node);
    if (!expand(next))
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
