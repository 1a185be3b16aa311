//===- Route.h - Collectives over the links of a machine --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_ROUTE_H
#define AUTOPAR_COST_ROUTE_H

#include "autopar/Cost/TokenSpread.h"
#include "autopar/Hardware/Hardware.h"

#include <vector>

namespace autopar::cost {

/// One axis of the devices of a group: the distance between neighbouring
/// devices, and their number. A group layout lists its axes, outermost first.
struct GroupAxis {
  int64_t stride = 1, size = 1;

  bool operator==(const GroupAxis &other) const {
    return stride == other.stride && size == other.size;
  }
};
using GroupLayout = std::vector<GroupAxis>;

/// Returns the number of devices of one group.
int64_t sizeOf(const GroupLayout &layout);

/// The cost of one step of a collective by one algorithm. For b bytes of the
/// whole call the time is latencyUs + b * usPerByte, and a device sends b *
/// wirePerByte bytes.
struct RouteChoice {
  const hardware::Algorithm *algorithm = nullptr;
  double latencyUs = 0, usPerByte = 0, wirePerByte = 0;
};

/// The part of a collective that runs among devices joined by one tier. For b
/// bytes of the whole call: without a measured curve, the time is that of the
/// cheapest of `choices`, the first of which is the textbook algorithm. With a
/// curve, it is 2^(log2TimeUs at log2(b) - firstLog2) us: linear between knots,
/// constant below the first, proportional to the bytes above the last. At full
/// bandwidth it is b * boundUsPerByte, or the time above if that is less. By
/// the textbook algorithm a device sends b * wirePerByte bytes.
struct RouteLevel {
  double boundUsPerByte = 0, wirePerByte = 0;
  /// The algorithms to choose from; empty if there is a measured curve.
  std::vector<RouteChoice> choices;
  double firstLog2 = 0;
  std::vector<double> log2TimeUs;
  const hardware::Tier *tier = nullptr;
  int64_t size = 1;
  /// Number of domains of the tier below to which a token is sent, if a token
  /// is sent once to each node.
  double copies = 0;
};

/// How one kind of collective runs over a group of devices.
struct Route {
  std::vector<RouteLevel> levels;
  /// The smallest tier of links that joins all devices of the group; null if
  /// none does.
  const hardware::Tier *tier = nullptr;
  /// Whether the times of the route assume full bandwidth, with no latency and
  /// an efficiency of 1.
  bool ideal = false;
  /// `interpolated`: a measured curve of another group size is used.
  /// `modelled`: there is no measured curve.
  bool interpolated = false, modelled = false;
  /// Whether the route has a step inside each tier.
  bool hierarchical = false;
  /// Whether the steps run at once, so that the longest counts instead of the
  /// sum.
  bool overlaps = false;
  /// Whether a token is sent once to each node.
  bool byNode = false;
};

/// Returns the algorithm with the least time for `bytes`, of a `level` without
/// a measured curve.
const RouteChoice &cheapest(const RouteLevel &level, double bytes);
/// `timeOf`: time in us of one call with `bytes` (a collective's buffer, as in
/// reports). `boundOf`: the least time of the call, at full bandwidth.
double timeOf(const Route &route, double bytes);
double boundOf(const Route &route, double bytes);

/// The links between the devices of a pool, for a mesh of `devices` devices.
class Network {
public:
  Network(const hardware::Pool &pool, int64_t devices)
      : pool(pool), devices(devices) {}

  /// Returns the smallest tier whose domains each hold whole groups of
  /// `layout`; null if there is none.
  const hardware::Tier *tierOf(const GroupLayout &layout) const;

  /// Returns the route of a collective over the groups of `layout`, with
  /// measured curves or, if `ideal`, at full bandwidth. A group that spans
  /// domains and has no curve of its own is priced as a hierarchy: with f
  /// devices of the group inside the domain, a reduce-scatter inside it, the
  /// same collective across domains on bytes/f, and an all-gather inside it.
  /// Cho et al., "BlueConnect" (2019), section 3.
  ///
  /// In an all-to-all each device sends a message to each other one. NCCL sends
  /// them at once, inside and between nodes (NVIDIA/nccl pull request 401,
  /// version 2.8). If m of n destinations lie in a domain, and k of these in
  /// one domain of the tier below, (m - k)/n of the bytes cross the tier, and
  /// the slowest tier counts. Example: of 32 devices in 4 nodes 7/32 of the
  /// bytes stay inside, 24/32 leave.
  ///
  /// With `spread`, a token that leaves its domain is sent once to each other
  /// domain, and is forwarded there to each device with its experts (DeepEP's
  /// kernels "with NVLink and RDMA forwarding", whose warps send and forward at
  /// once). The level above domains of k devices moves a token to
  /// `domainsReached` domains, of which the fraction 1 - k/m is not the token's
  /// own. Inside the first tier rows are sent one by one, unless `inNode` is
  /// set.
  Route route(program::CollectiveKind kind, const GroupLayout &layout,
              bool ideal, const TokenSpread *spread = nullptr) const;

  /// Returns the route of a collective between the device at position `from` of
  /// `axis` and the one at position `to`, for all such pairs. The route has no
  /// tier if the positions are equal, or if no link joins the two devices.
  Route join(program::CollectiveKind kind, const GroupAxis &axis, int64_t from,
             int64_t to, bool ideal) const;
  /// Returns the route of one message from the device at position `from` of
  /// `axis` to the one at position `to`, for all such pairs. The route has no
  /// tier if no link joins the two devices.
  Route transfer(const GroupAxis &axis, int64_t from, int64_t to,
                 bool ideal) const;

  /// Returns a key of how an axis lies on the machine: axes of equal size and
  /// equal key have equal routes, whatever their strides.
  std::vector<int64_t> placeOf(const GroupAxis &axis) const;

private:
  bool joins(const hardware::Tier &tier, const GroupAxis &axis, int64_t from,
             int64_t to) const;
  bool holds(const hardware::Tier &tier, const GroupLayout &layout) const;
  void addLevel(program::CollectiveKind kind, int64_t size, double share,
                const hardware::Tier &tier, Route &route) const;
  void addHierarchy(program::CollectiveKind kind, const GroupLayout &layout,
                    const TokenSpread *spread, Route &route) const;

  const hardware::Pool &pool;
  int64_t devices;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_ROUTE_H
