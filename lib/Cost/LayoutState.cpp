//===- LayoutState.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutState.h"

#include "autopar/Cost/ExpertNodes.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::runtime;

LayoutState::LayoutState(const Leaves &leaves, const Pool &pool,
                         const Runtime &runtime)
    : leaves(leaves), pool(pool), ideal(runtime.ideal),
      startUs(runtime.ideal ? 0 : runtime.collectiveStartUs.value),
      current(leaves.links.size()), views(leaves.links.size()),
      joined(leaves.links.size()) {
  for (const LinkUse &link : leaves.links) {
    auto same = std::find(groups.begin(), groups.end(), link.axes);
    groupOf.push_back(static_cast<uint32_t>(same - groups.begin()));
    if (same == groups.end())
      groups.push_back(link.axes);
  }
  laid.resize(groups.size());
}

/// Most parts of a program use the same axes as the part before, so that
/// nothing changes.
bool LayoutState::lay(const Layout &next) {
  layout = &next;
  if (next.devices == laidDevices && next.expertSlots == laidSlots &&
      next.axes == laidAxes)
    return false;
  laidDevices = next.devices;
  laidSlots = next.expertSlots;
  laidAxes = next.axes;
  for (size_t i = 0; i < groups.size(); ++i)
    laid[i] = &find(groups[i], next);
  for (size_t i = 0; i < leaves.links.size(); ++i) {
    KnownGroup &group = *laid[groupOf[i]];
    const KnownRoute &known = leaves.links[i].byNode
                                  ? routeByNode(leaves.links[i], group)
                                  : routeOf(leaves.links[i].kind, group);
    current[i] = &known.route;
    joined[i] = group.size == 1 || known.route.tier;
    views[i] = known.view;
  }
  if (leaves.placement)
    findSkews();
  return true;
}

static uint64_t hashOf(const GroupLayout &group, int64_t devices) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15;
  auto hash = static_cast<uint64_t>(devices);
  for (const GroupAxis &axis : group) {
    hash = (hash ^ static_cast<uint64_t>(axis.stride)) * odd;
    hash = (hash ^ static_cast<uint64_t>(axis.size)) * odd;
  }
  return hash;
}

LayoutState::KnownGroup &LayoutState::find(const std::vector<AxisId> &axes,
                                           const Layout &next) {
  wanted.clear();
  for (AxisId axis : axes)
    wanted.push_back(next.axes[axis]);
  auto &same = known[hashOf(wanted, next.devices)];
  for (const auto &one : same)
    if (one->devices == next.devices && one->layout == wanted)
      return *one;
  same.push_back(std::make_unique<KnownGroup>());
  KnownGroup &group = *same.back();
  group.layout = wanted;
  group.devices = next.devices;
  group.size = sizeOf(wanted);
  return group;
}

const LayoutState::KnownRoute &LayoutState::routeOf(CollectiveKind kind,
                                                    KnownGroup &group) const {
  auto &known = group.routes[static_cast<size_t>(kind)];
  if (known)
    return *known;
  known = std::make_unique<KnownRoute>();
  if (group.size > 1)
    known->route =
        Network(pool, group.devices).route(kind, group.layout, ideal);
  addStart(pool, kind, startUs, known->route);
  known->resolve();
  return *known;
}

void LayoutState::KnownRoute::resolve() {
  steps = stepsOf(route);
  view = viewOf(steps, route);
}

/// Sets where the ranks that share the experts of `link` lie along the axes of
/// the link.
void LayoutState::setSpread(const LinkUse &link) {
  const NodeDispatch &dispatch = *link.byNode;
  spread.topK = dispatch.topK;
  spread.experts = dispatch.experts;
  spread.groups = dispatch.groups;
  spread.kept = dispatch.kept;
  spread.inNode = dispatch.inNode;
  spread.ranks = 1;
  spread.strides.assign(link.axes.size(), 0);
  for (size_t i = dispatch.axes.size(); i-- > 0;) {
    for (size_t axis = 0; axis < link.axes.size(); ++axis)
      if (link.axes[axis] == dispatch.axes[i])
        spread.strides[axis] = spread.ranks;
    spread.ranks *= layout->axes[dispatch.axes[i]].size;
  }
}

const LayoutState::KnownRoute &LayoutState::routeByNode(const LinkUse &link,
                                                        KnownGroup &group) {
  setSpread(link);
  for (const auto &[other, known] : group.routesByNode)
    if (other == spread)
      return *known;
  auto known = std::make_unique<KnownRoute>();
  if (group.size > 1)
    known->route = Network(pool, group.devices)
                       .route(link.kind, group.layout, ideal, &spread);
  known->resolve();
  group.routesByNode.emplace_back(spread, std::move(known));
  return *group.routesByNode.back().second;
}

/// Returns the bytes that a call sends over all tiers per byte of its buffer,
/// in millionths, rounded up.
int64_t LayoutState::sentOf(uint32_t link) const {
  const Route &route = *current[link];
  if (!route.byNode)
    return 0;
  double sum = 0;
  for (const RouteLevel &level : route.levels)
    sum += level.wirePerByte;
  return static_cast<int64_t>(std::ceil(sum * static_cast<double>(wholeSent)));
}

//===----------------------------------------------------------------------===//
// Loads of placed experts
//===----------------------------------------------------------------------===//

static constexpr double skewRounding = 1e-4;

static int64_t millionths(double value) {
  return static_cast<int64_t>(
      std::ceil(value * static_cast<double>(evenSkew) - skewRounding));
}

/// Returns for each layer the load of the most loaded of `ranks` devices over
/// the mean load. The result is empty if the slots do not divide evenly or are
/// too many to be placed; a requirement then refuses the layout.
static std::vector<double> imbalancesOf(const PlacedExperts &placed,
                                        int64_t slots, int64_t ranks,
                                        int64_t nodes) {
  std::vector<double> imbalances;
  if (placed.placer) {
    auto found = placed.placer->imbalances(slots, ranks, nodes);
    return found ? *found : imbalances;
  }
  if (placed.slots % ranks != 0)
    return imbalances;
  for (const PlacedExperts::Layer &layer : placed.layers) {
    std::vector<double> tokens = layer.loads.tokens;
    if (placed.limit)
      tokens = workedTokens(std::move(tokens), *placed.limit);
    imbalances.push_back(imbalanceOf(layer.slots, tokens, ranks));
  }
  return imbalances;
}

/// Finds for each layer kind the load of the most loaded device over the mean
/// load, and the share of tokens that experts keep, both averaged over the
/// layers.
void LayoutState::findSkews() {
  const PlacedExperts &placed = *leaves.placement;
  GroupLayout group;
  for (AxisId axis : placed.axes)
    group.push_back(layout->axes[axis]);
  int64_t ranks = sizeOf(group);
  int64_t nodes = 1, slots = placed.slots;
  if (placed.placer) {
    nodes = nodesOf(group, pool.devicesPerNode).value_or(1);
    slots = layout->expertSlots;
  }
  for (const auto &one : knownSkews)
    if (one->ranks == ranks && one->nodes == nodes && one->slots == slots) {
      skews = one.get();
      return;
    }
  struct Sum {
    double skew = 0, peak = 0, kept = 0, layers = 0;
  };
  std::vector<Sum> sums;
  std::vector<double> imbalances = imbalancesOf(placed, slots, ranks, nodes);
  for (size_t i = 0; i < placed.layers.size(); ++i) {
    const PlacedExperts::Layer &layer = placed.layers[i];
    sums.resize(std::max<size_t>(sums.size(), layer.kind + 1));
    if (imbalances.empty())
      continue;
    Sum &sum = sums[layer.kind];
    sum.layers += 1;
    sum.kept += placed.limit ? keptShare(layer.loads.tokens, *placed.limit) : 1;
    sum.skew += imbalances[i];
    sum.peak = std::max(sum.peak, imbalances[i]);
  }
  auto one = std::make_unique<KnownSkews>();
  one->ranks = ranks;
  one->nodes = nodes;
  one->slots = slots;
  one->arePlaced = !imbalances.empty() || placed.layers.empty();
  // A ratio of loads below 1 can only be a rounding error of even loads.
  for (const Sum &sum : sums) {
    double layers = std::max(1.0, sum.layers);
    one->skews.push_back(std::max(evenSkew, millionths(sum.skew / layers)));
    one->peaks.push_back(std::max(evenSkew, millionths(sum.peak)));
    one->kept.push_back(sum.layers > 0 ? millionths(sum.kept / layers)
                                       : evenSkew);
  }
  skews = one.get();
  knownSkews.push_back(std::move(one));
}

int64_t LayoutState::skewOf(uint32_t kind) const {
  return skews && kind < skews->skews.size() ? skews->skews[kind] : evenSkew;
}

int64_t LayoutState::peakSkewOf(uint32_t kind) const {
  return skews && kind < skews->peaks.size() ? skews->peaks[kind] : evenSkew;
}

int64_t LayoutState::keptOf(uint32_t kind) const {
  return skews && kind < skews->kept.size() ? skews->kept[kind] : evenSkew;
}

double LayoutState::valueOf(Op op, uint32_t index) const {
  switch (op) {
  case Op::axis:
    return static_cast<double>(layout->axes[index].size);
  case Op::slots:
    return static_cast<double>(layout->expertSlots);
  case Op::stages:
    return static_cast<double>(layout->stages);
  case Op::skew:
    return static_cast<double>(skewOf(index));
  case Op::peak_skew:
    return static_cast<double>(peakSkewOf(index));
  case Op::kept:
    return static_cast<double>(keptOf(index));
  case Op::sent:
    return static_cast<double>(sentOf(index));
  case Op::kind_count:
    return static_cast<double>(layout->part.kinds[index]);
  case Op::into_border:
    return static_cast<double>(layout->part.into[index]);
  case Op::out_of_border:
    return static_cast<double>(layout->part.outOf[index]);
  case Op::passes:
    return static_cast<double>(layout->passes);
  case Op::microbatches:
    return static_cast<double>(layout->microbatches);
  default:
    return 0;
  }
}
