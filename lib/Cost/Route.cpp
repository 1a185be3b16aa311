//===- Route.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Route.h"

#include "Run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;

int64_t autopar::cost::sizeOf(const GroupLayout &layout) {
  int64_t size = 1;
  for (const GroupAxis &axis : layout)
    size *= axis.size;
  return size;
}

//===----------------------------------------------------------------------===//
// Time of a call over a route
//===----------------------------------------------------------------------===//

std::vector<RouteStep> autopar::cost::stepsOf(const Route &route) {
  std::vector<RouteStep> steps;
  for (const RouteLevel &level : route.levels) {
    if (size_t knots = level.log2TimeUs.size())
      steps.push_back({0, 0, level.boundUsPerByte, level.firstLog2,
                       level.log2TimeUs.data(),
                       static_cast<uint32_t>(knots - 2), false});
    for (const RouteChoice &choice : level.choices)
      steps.push_back({choice.latencyUs, choice.usPerByte, level.boundUsPerByte,
                       0, nullptr, 0, &choice != &level.choices.front()});
  }
  return steps;
}

RouteView autopar::cost::viewOf(const std::vector<RouteStep> &steps,
                                const Route &route) {
  bool hasCurve =
      std::any_of(steps.begin(), steps.end(),
                  [](const RouteStep &step) { return step.knots != nullptr; });
  return {steps.data(), static_cast<uint32_t>(steps.size()), route.ideal,
          hasCurve, route.overlaps};
}

const RouteChoice &autopar::cost::cheapest(const RouteLevel &level,
                                           double bytes) {
  auto time = [&](const RouteChoice &choice) {
    return choice.latencyUs + bytes * choice.usPerByte;
  };
  return *std::min_element(level.choices.begin(), level.choices.end(),
                           [&](const RouteChoice &a, const RouteChoice &b) {
                             return time(a) < time(b);
                           });
}

static double timeOver(const Route &route, double bytes, bool atFullBandwidth) {
  std::vector<RouteStep> steps = stepsOf(route);
  return routeTime(viewOf(steps, route), bytes, atFullBandwidth);
}

double autopar::cost::timeOf(const Route &route, double bytes) {
  return timeOver(route, bytes, route.ideal);
}

double autopar::cost::boundOf(const Route &route, double bytes) {
  return timeOver(route, bytes, true);
}

//===----------------------------------------------------------------------===//
// Reading measured curves of collectives
//===----------------------------------------------------------------------===//

using CurvesBySize = std::map<int64_t, CollectiveCurve>;

static const CurvesBySize *curvesOf(const Tier &tier, CollectiveKind kind) {
  auto it = tier.curves.find(kind);
  return it == tier.curves.end() || it->second.empty() ? nullptr : &it->second;
}

/// Returns log2 of the time in us that the curve gives for 2^`log2Bytes` bytes.
static double log2At(const CollectiveCurve &curve, int log2Bytes) {
  int knot = log2Bytes - curve.firstLog2Bytes;
  int last = static_cast<int>(curve.timeUs.size()) - 1;
  if (knot > last)
    return std::log2(curve.timeUs[last]) + (knot - last);
  return std::log2(curve.timeUs[std::max(knot, 0)]);
}

static void addKnots(const CollectiveCurve &low, const CollectiveCurve &high,
                     double share, RouteLevel &level) {
  auto lastOf = [](const CollectiveCurve &curve) {
    return curve.firstLog2Bytes + static_cast<int>(curve.timeUs.size()) - 1;
  };
  int first = std::min(low.firstLog2Bytes, high.firstLog2Bytes);
  int last = std::max(lastOf(low), lastOf(high));
  level.firstLog2 += first;
  // The level gets one more knot beyond the last measured one; its time is
  // proportional to the bytes.
  for (int knot = first; knot <= last + 1; ++knot) {
    double a = log2At(low, knot), b = log2At(high, knot);
    level.log2TimeUs.push_back(a + share * (b - a));
  }
}

/// Adds a curve for a group size that was not measured. Between two measured
/// sizes, the logarithms of the times are interpolated linearly in log n;
/// beyond the smallest or largest size, times are proportional to the bytes on
/// the wire.
static void addCurve(const CurvesBySize &curves, CollectiveKind kind,
                     int64_t size, RouteLevel &level) {
  auto above = curves.lower_bound(size);
  if (above != curves.end() && above->first == size)
    return addKnots(above->second, above->second, 0, level);
  if (above == curves.end() || above == curves.begin()) {
    auto near = above == curves.end() ? std::prev(above) : above;
    double scale = near->first < 2 ? 1
                                   : wireBytes(kind, size, 1) /
                                         wireBytes(kind, near->first, 1);
    addKnots(near->second, near->second, 0, level);
    for (double &knot : level.log2TimeUs)
      knot += std::log2(scale);
    return;
  }
  auto below = std::prev(above);
  double begin = std::log2(static_cast<double>(below->first));
  double end = std::log2(static_cast<double>(above->first));
  double at = std::log2(static_cast<double>(size));
  addKnots(below->second, above->second, (at - begin) / (end - begin), level);
}

//===----------------------------------------------------------------------===//
// Routes of groups of devices in a network
//===----------------------------------------------------------------------===//

/// Returns whether every group of `layout` lies inside one domain of `tier`.
/// Groups start at multiples of their span, which must divide the domain unless
/// one domain holds the whole mesh.
bool Network::holds(const Tier &tier, const GroupLayout &layout) const {
  if (devices <= tier.domain)
    return true;
  for (const GroupAxis &axis : layout)
    if (axis.size > 1 && tier.domain % (axis.stride * axis.size) != 0)
      return false;
  return true;
}

const Tier *Network::tierOf(const GroupLayout &layout) const {
  for (const Tier &tier : pool.tiers)
    if (holds(tier, layout))
      return &tier;
  return nullptr;
}

/// Returns how many members of an axis share an aligned domain of `domain`
/// devices; a second function returns it for a group.
static int64_t membersInside(const GroupAxis &axis, int64_t domain) {
  return domain % axis.stride ? 1 : std::gcd(axis.size, domain / axis.stride);
}
static int64_t membersInside(const GroupLayout &layout, int64_t domain) {
  int64_t members = 1;
  for (const GroupAxis &axis : layout)
    members *= membersInside(axis, domain);
  return members;
}

/// Returns the ranks in the first domain, out of the ranks that share the
/// experts.
static std::vector<int64_t> ranksInside(const GroupLayout &layout,
                                        const TokenSpread &spread,
                                        int64_t domain) {
  std::vector<int64_t> ranks = {0};
  for (size_t i = 0; i < layout.size(); ++i) {
    size_t before = ranks.size();
    for (int64_t at = 1; at < membersInside(layout[i], domain); ++at)
      for (size_t rank = 0; rank < before; ++rank)
        ranks.push_back(ranks[rank] + at * spread.strides[i]);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

/// Returns the cost of `algorithm` among `size` devices of `tier` that exchange
/// `share` of the bytes.
static RouteChoice choiceOf(const Algorithm &algorithm, int64_t size,
                            double share, const Tier &tier) {
  RouteChoice choice{&algorithm};
  choice.wirePerByte = share * sentBytes(algorithm, size, 1);
  choice.latencyUs = tier.latency.value * hopsOf(algorithm, size);
  choice.usPerByte =
      choice.wirePerByte / tier.bandwidth.value * 1e6 / tier.efficiency.value;
  return choice;
}

/// Adds to a route a step among `size` devices that `tier` joins directly, on
/// `share` of the bytes. The step takes the time of its measured curve or of
/// its algorithms. A measured curve may be below the lower bound of a ring,
/// because a switch that reduces moves fewer bytes; the bound is lowered to the
/// curve.
void Network::addLevel(CollectiveKind kind, int64_t size, double share,
                       const Tier &tier, Route &route) const {
  if (size <= 1)
    return;
  RouteLevel &level = route.levels.emplace_back();
  level.tier = &tier;
  level.size = size;
  RouteChoice rule = choiceOf(ruleOf(kind), size, share, tier);
  level.wirePerByte = rule.wirePerByte;
  level.boundUsPerByte = level.wirePerByte / tier.bandwidth.value * 1e6;
  const CurvesBySize *curves = curvesOf(tier, kind);
  if (!curves) {
    level.choices.push_back(rule);
    for (const Algorithm &other : tier.algorithms)
      if (other.kind == kind)
        level.choices.push_back(choiceOf(other, size, share, tier));
    route.modelled = true;
    return;
  }
  level.firstLog2 = -std::log2(share);
  addCurve(*curves, kind, size, level);
  route.interpolated |= !curves->count(size);
}

void Network::addHierarchy(CollectiveKind kind, const GroupLayout &layout,
                           const TokenSpread *spread, Route &route) const {
  int64_t all = sizeOf(layout), below = 1, domain = 1;
  double share = 1;
  for (const Tier &tier : pool.tiers) {
    bool last = &tier == route.tier;
    int64_t inside = last ? all : membersInside(layout, tier.domain);
    int64_t size = inside / below;
    double copies = 0;
    if (spread && size > 1) {
      double reached = reachOf(*spread, ranksInside(layout, *spread, domain));
      int64_t domains = all / below;
      copies = reached * static_cast<double>(domains);
      share = copies / spread->rowsOver(all);
    } else if (route.overlaps) {
      // Of the bytes for `inside` devices, the share (size - 1)/size leaves the
      // domain of the tier below.
      share = static_cast<double>(inside) / static_cast<double>(all);
    }
    if (kind == CollectiveKind::all_reduce && !last) {
      addLevel(CollectiveKind::reduce_scatter, size, share, tier, route);
      addLevel(CollectiveKind::all_gather, size, share, tier, route);
    } else {
      addLevel(kind, size, share, tier, route);
    }
    if (size > 1)
      route.levels.back().copies = copies;
    if (last)
      return;
    if (!route.overlaps)
      share /= static_cast<double>(size);
    below = inside;
    domain = tier.domain;
  }
}

Route Network::route(CollectiveKind kind, const GroupLayout &layout, bool ideal,
                     const TokenSpread *spread) const {
  Route route;
  route.ideal = ideal;
  route.tier = tierOf(layout);
  if (!route.tier)
    return route;
  int64_t inside = 1;
  for (const Tier &tier : pool.tiers) {
    if (&tier == route.tier)
      break;
    inside = std::max(inside, membersInside(layout, tier.domain));
  }
  bool hasCurve = curvesOf(*route.tier, kind) != nullptr;
  Algorithm::Tiers tiers = ruleOf(kind).tiers;
  bool leavesNode = route.tier != &pool.tiers.front();
  route.byNode = spread && (leavesNode || spread->inNode);
  route.hierarchical = route.byNode || (tiers != Algorithm::Tiers::slowest &&
                                        inside > 1 && (ideal || !hasCurve));
  route.overlaps = route.hierarchical && tiers == Algorithm::Tiers::at_once;
  if (route.hierarchical)
    addHierarchy(kind, layout, route.byNode ? spread : nullptr, route);
  else
    addLevel(kind, sizeOf(layout), 1, *route.tier, route);
  return route;
}

void autopar::cost::addStart(const Pool &pool, CollectiveKind kind,
                             double startUs, Route &route) {
  bool leavesNode = route.tier && route.tier != &pool.tiers.front();
  bool starts = ruleOf(kind).tiers == Algorithm::Tiers::in_turn;
  if (!leavesNode || !starts || route.byNode || route.levels.empty())
    return;
  for (RouteChoice &choice : route.levels.back().choices)
    choice.latencyUs += startUs;
}

std::vector<int64_t> Network::placeOf(const GroupAxis &axis) const {
  std::vector<int64_t> place;
  for (const Tier &tier : pool.tiers) {
    place.push_back(holds(tier, {axis}));
    place.push_back(membersInside(axis, tier.domain));
  }
  return place;
}

/// Returns whether the positions `from` and `to` of `axis` are always in the
/// same domain of `tier`.
bool Network::joins(const Tier &tier, const GroupAxis &axis, int64_t from,
                    int64_t to) const {
  int64_t span = axis.stride * axis.size;
  if (devices <= tier.domain || tier.domain % span == 0)
    return true;
  // The outermost axis begins with device 0 and is therefore aligned.
  bool isAligned = span % tier.domain == 0 || span == devices;
  return isAligned && tier.domain % axis.stride == 0 &&
         from * axis.stride / tier.domain == to * axis.stride / tier.domain;
}

Route Network::join(CollectiveKind kind, const GroupAxis &axis, int64_t from,
                    int64_t to, bool ideal) const {
  Route route;
  route.ideal = ideal;
  if (from == to)
    return route;
  for (const Tier &tier : pool.tiers)
    if (!route.tier && joins(tier, axis, from, to))
      route.tier = &tier;
  if (route.tier)
    addLevel(kind, 2, 1, *route.tier, route);
  return route;
}

Route Network::transfer(const GroupAxis &axis, int64_t from, int64_t to,
                        bool ideal) const {
  return join(CollectiveKind::permute, axis, from, to, ideal);
}
