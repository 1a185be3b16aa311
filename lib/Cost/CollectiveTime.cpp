//===- CollectiveTime.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/CollectiveTime.h"

#include "autopar/Program/WireBytes.h"

#include <cmath>
#include <numeric>

using namespace autopar;

int64_t autopar::sizeOf(const GroupLayout &layout) {
  int64_t size = 1;
  for (const GroupAxis &axis : layout)
    size *= axis.size;
  return size;
}

//===----------------------------------------------------------------------===//
// Curves
//===----------------------------------------------------------------------===//

double autopar::interpolate(const CollectiveCurve &curve, double bytes) {
  const std::vector<double> &times = curve.timeUs;
  double knot = std::log2(std::max(bytes, 1.0)) - curve.firstLog2Bytes;
  if (knot <= 0)
    return times.front();
  size_t last = times.size() - 1;
  if (knot >= static_cast<double>(last))
    return times.back() * std::exp2(knot - static_cast<double>(last));
  auto index = static_cast<size_t>(knot);
  double fraction = knot - static_cast<double>(index);
  double low = std::log2(times[index]), high = std::log2(times[index + 1]);
  return std::exp2(low + fraction * (high - low));
}

using CurvesBySize = std::map<int64_t, CollectiveCurve>;

static const CurvesBySize *curvesOf(const Tier &tier, CollectiveKind kind) {
  auto it = tier.curves.find(kind);
  return it == tier.curves.end() || it->second.empty() ? nullptr : &it->second;
}

/// Time at a group size that was not measured: linear in log n between the
/// logarithms of its neighbours' times, and beyond the ends in proportion to
/// the bytes on the wire.
static double interpolateSize(const CurvesBySize &curves, CollectiveKind kind,
                              int64_t size, double bytes) {
  auto above = curves.lower_bound(size);
  if (above == curves.end() || above == curves.begin()) {
    auto near = above == curves.end() ? std::prev(above) : above;
    double scale = near->first < 2 ? 1
                                   : wireBytes(kind, size, 1) /
                                         wireBytes(kind, near->first, 1);
    return interpolate(near->second, bytes) * scale;
  }
  auto below = std::prev(above);
  double begin = std::log2(static_cast<double>(below->first));
  double end = std::log2(static_cast<double>(above->first));
  double at = std::log2(static_cast<double>(size));
  double low = std::log2(interpolate(below->second, bytes));
  double high = std::log2(interpolate(above->second, bytes));
  return std::exp2(low + (at - begin) / (end - begin) * (high - low));
}

double autopar::reachedBandwidth(const Tier &tier, bool ideal) {
  return tier.bandwidth.value * (ideal ? 1 : tier.efficiency.value);
}

//===----------------------------------------------------------------------===//
// Network
//===----------------------------------------------------------------------===//

/// Whether no group of `layout` leaves a domain of `tier`: groups start at
/// multiples of their span, which must divide the domain unless one domain
/// holds the whole mesh.
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

/// Members of a group that share every aligned domain of `domain` devices.
static int64_t membersInside(const GroupLayout &layout, int64_t domain) {
  int64_t members = 1;
  for (const GroupAxis &axis : layout)
    if (domain % axis.stride == 0)
      members *= std::gcd(axis.size, domain / axis.stride);
  return members;
}

/// Messages of few bytes that follow one another: a tree of the devices, but a
/// permute is one message each, a ring n - 1.
static double hopsOf(CollectiveKind kind, int64_t size) {
  if (kind == CollectiveKind::permute)
    return 1;
  if (kind == CollectiveKind::ring)
    return static_cast<double>(size - 1);
  return std::ceil(std::log2(static_cast<double>(size)));
}

/// Adds a step among `size` devices that `tier` joins directly: its curve, or
/// latency * hops + wire bytes / (bandwidth * efficiency), the
/// alpha-beta model of Thakur et al. (2005), section 3.
void Network::addLevel(CollectiveKind kind, int64_t size, double bytes,
                       const Tier &tier, bool ideal,
                       CollectiveTime &time) const {
  if (size <= 1)
    return;
  double wire = wireBytes(kind, size, bytes);
  double bound = wire / tier.bandwidth.value * 1e6;
  double expected = 0;
  const CurvesBySize *curves = curvesOf(tier, kind);
  if (!curves) {
    expected =
        tier.latency.value * hopsOf(kind, size) + bound / tier.efficiency.value;
    time.modelled = true;
  } else if (auto exact = curves->find(size); exact != curves->end()) {
    expected = interpolate(exact->second, bytes);
  } else {
    expected = interpolateSize(*curves, kind, size, bytes);
    time.interpolated = true;
  }
  // A switch that reduces moves less than a ring: what was measured is
  // possible.
  bound = std::min(bound, expected);
  time.idealUs += bound;
  time.timeUs += ideal ? bound : expected;
}

void Network::addHierarchy(CollectiveKind kind, const GroupLayout &layout,
                           double bytes, bool ideal,
                           CollectiveTime &time) const {
  int64_t below = 1;
  for (const Tier &tier : pool.tiers) {
    bool last = &tier == time.tier;
    int64_t inside = last ? sizeOf(layout) : membersInside(layout, tier.domain);
    int64_t size = inside / below;
    if (kind == CollectiveKind::all_reduce && !last) {
      addLevel(CollectiveKind::reduce_scatter, size, bytes, tier, ideal, time);
      addLevel(CollectiveKind::all_gather, size, bytes, tier, ideal, time);
    } else {
      addLevel(kind, size, bytes, tier, ideal, time);
    }
    if (last)
      return;
    if (kind != CollectiveKind::all_to_all)
      bytes /= static_cast<double>(size);
    below = inside;
  }
}

CollectiveTime Network::time(CollectiveKind kind, const GroupLayout &layout,
                             double bytes, bool ideal) const {
  CollectiveTime time;
  time.tier = tierOf(layout);
  if (!time.tier)
    return time;
  int64_t inside = 1;
  for (const Tier &tier : pool.tiers) {
    if (&tier == time.tier)
      break;
    inside = std::max(inside, membersInside(layout, tier.domain));
  }
  bool hasCurve = curvesOf(*time.tier, kind) != nullptr;
  // In a permute and in every step of a ring some device sends over the slowest
  // link.
  bool passes = kind == CollectiveKind::permute || kind == CollectiveKind::ring;
  if (!passes && inside > 1 && (ideal || !hasCurve)) {
    time.hierarchical = true;
    addHierarchy(kind, layout, bytes, ideal, time);
  } else {
    addLevel(kind, sizeOf(layout), bytes, *time.tier, ideal, time);
  }
  return time;
}

/// Whether positions `from` and `to` of `axis` are always in one domain of
/// `tier`.
bool Network::joins(const Tier &tier, const GroupAxis &axis, int64_t from,
                    int64_t to) const {
  int64_t span = axis.stride * axis.size;
  if (devices <= tier.domain || tier.domain % span == 0)
    return true;
  // Outermost, the axis begins with device 0.
  bool isAligned = span % tier.domain == 0 || span == devices;
  return isAligned && tier.domain % axis.stride == 0 &&
         from * axis.stride / tier.domain == to * axis.stride / tier.domain;
}

CollectiveTime Network::transfer(const GroupAxis &axis, int64_t from,
                                 int64_t to, double bytes, bool ideal) const {
  CollectiveTime time;
  if (from == to)
    return time;
  for (const Tier &tier : pool.tiers)
    if (!time.tier && joins(tier, axis, from, to))
      time.tier = &tier;
  if (time.tier)
    addLevel(CollectiveKind::permute, 2, bytes, *time.tier, ideal, time);
  return time;
}
