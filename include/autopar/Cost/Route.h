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

/// The places of the devices of a group: for each axis, outermost first, the
/// distance between neighbours and their number.
struct GroupAxis {
  int64_t stride = 1, size = 1;

  bool operator==(const GroupAxis &other) const {
    return stride == other.stride && size == other.size;
  }
};
using GroupLayout = std::vector<GroupAxis>;

/// Number of devices of one group.
int64_t sizeOf(const GroupLayout &layout);

/// The cost of a step by one algorithm, for b bytes of the whole call:
/// latencyUs + b * usPerByte; a device sends b * wirePerByte.
struct RouteChoice {
  const hardware::Algorithm *algorithm = nullptr;
  double latencyUs = 0, usPerByte = 0, wirePerByte = 0;
};

/// A step of a collective among devices that one tier joins, for b bytes of the
/// whole call. Without a curve its time is that of the cheapest choice, the
/// first of which is the rule of the collective. With a curve it is
/// 2^(log2TimeUs at log2(b) - firstLog2): linear between knots, constant below
/// the first, proportional to the bytes above the last. At full bandwidth it is
/// b * boundUsPerByte, or the time above if that is less. By the rule a device
/// sends b * wirePerByte.
struct RouteLevel {
  double boundUsPerByte = 0, wirePerByte = 0;
  /// Empty if there is a curve.
  std::vector<RouteChoice> choices;
  double firstLog2 = 0;
  std::vector<double> log2TimeUs;
  const hardware::Tier *tier = nullptr;
  int64_t size = 1;
  /// Number of domains of the tier below that a token goes to, if tokens go to
  /// each node once.
  double copies = 0;
};

/// The route of calls of one kind of collective over a group.
struct Route {
  std::vector<RouteLevel> levels;
  /// The smallest tier that joins the group; null if none does.
  const hardware::Tier *tier = nullptr;
  /// At full bandwidth, without latency and efficiency.
  bool ideal = false;
  /// Curves were measured at other group sizes, or there are none.
  bool interpolated = false, modelled = false;
  /// The route has a step inside each tier.
  bool hierarchical = false;
  /// Steps run at once: the longest counts, not the sum.
  bool overlaps = false;
  /// Tokens go to each node once.
  bool byNode = false;
};

/// The fastest choice for `bytes` of a `level` without a curve.
const RouteChoice &cheapest(const RouteLevel &level, double bytes);
/// Time in us of one call on `bytes` (a collective's buffer, as in reports),
/// and its bound at full bandwidth.
double timeOf(const Route &route, double bytes);
double boundOf(const Route &route, double bytes);

/// The links of a pool, for a mesh of `devices` devices.
class Network {
public:
  Network(const hardware::Pool &pool, int64_t devices)
      : pool(pool), devices(devices) {}

  /// The smallest tier whose domains hold all groups of `layout`; null if there
  /// is none.
  const hardware::Tier *tierOf(const GroupLayout &layout) const;

  /// The route of a collective, with measured curves or, if `ideal`, at full
  /// bandwidth. A group that spans domains and has no curve of its own is
  /// priced as a hierarchy: with f devices of the group inside the domain,
  /// reduce-scatter there, the same collective across domains on bytes/f,
  /// all-gather there. Cho et al., "BlueConnect" (2019), section 3.
  ///
  /// An all-to-all sends messages from each device to each other one. NCCL
  /// sends them at once, inside and between nodes (NVIDIA/nccl pull request
  /// 401, version 2.8). If m of n destinations lie in a domain, and k of these
  /// in one domain of the tier below, (m - k)/n of the bytes cross the tier,
  /// and the slowest tier counts. Example: of 32 devices in 4 nodes 7/32 of the
  /// bytes stay inside, 24/32 leave.
  ///
  /// With `spread`, a token that leaves its domain goes to each other domain
  /// once, and is forwarded there to each device with its experts (DeepEP's
  /// kernels "with NVLink and RDMA forwarding", whose warps send and forward at
  /// once). The level above domains of k devices moves a token to
  /// `domainsReached` domains, of which the fraction 1 - k/m differs from its
  /// own. Inside the first tier rows are sent one by one, unless `inNode` is
  /// set.
  Route route(program::CollectiveKind kind, const GroupLayout &layout,
              bool ideal, const TokenSpread *spread = nullptr) const;

  /// A collective between each device at position `from` of `axis` and the one
  /// at position `to`. Has no tier if the positions are equal, or if no link
  /// joins them.
  Route join(program::CollectiveKind kind, const GroupAxis &axis, int64_t from,
             int64_t to, bool ideal) const;
  /// One message from each device at position `from` of `axis` to the one at
  /// position `to`. Has no tier if no link joins them.
  Route transfer(const GroupAxis &axis, int64_t from, int64_t to,
                 bool ideal) const;

  /// A key of the place of an axis: axes of one size with equal keys have equal
  /// routes, whatever their strides.
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
