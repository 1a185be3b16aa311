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

#include <array>
#include <vector>

namespace autopar::cost {

/// Where the devices of a group lie: one entry per axis, outermost first, with
/// the distance between neighbours and their number.
struct GroupAxis {
  int64_t stride = 1, size = 1;

  bool operator==(const GroupAxis &other) const {
    return stride == other.stride && size == other.size;
  }
};
using GroupLayout = std::vector<GroupAxis>;

/// Devices of one group.
int64_t sizeOf(const GroupLayout &layout);

/// What a step takes by one algorithm, of b bytes of the whole call latencyUs +
/// b * usPerByte; a device sends b * wirePerByte.
struct RouteChoice {
  const hardware::Algorithm *algorithm = nullptr;
  double latencyUs = 0, usPerByte = 0, wirePerByte = 0;
};

/// A step of a collective among devices that one tier joins. Of b bytes of the
/// whole call it takes what the cheapest of its choices takes, of which the
/// rule of the collective is the first, or, where there is a curve,
/// 2^(log2TimeUs at log2(b) - firstLog2): straight between knots, constant
/// below the first, proportional to the bytes above the last. At full
/// bandwidth it takes b * boundUsPerByte, or as long where that is less. By the
/// rule a device sends b * wirePerByte.
struct RouteLevel {
  double boundUsPerByte = 0, wirePerByte = 0;
  /// None where there is a curve.
  std::vector<RouteChoice> choices;
  double firstLog2 = 0;
  std::vector<double> log2TimeUs;
  const hardware::Tier *tier = nullptr;
  int64_t size = 1;
  /// Of tokens that go to each node once: to how many domains of the tier below
  /// one goes.
  double copies = 0;
};

/// How the calls of one kind of collective go over a group.
struct Route {
  std::vector<RouteLevel> levels;
  /// The smallest tier that joins the group; null where none does.
  const hardware::Tier *tier = nullptr;
  /// At full bandwidth, with neither latency nor efficiency.
  bool ideal = false;
  /// Curves were measured at other group sizes, or there are none.
  bool interpolated = false, modelled = false;
  /// A step inside each tier.
  bool hierarchical = false;
  /// They run at once: the longest counts, not the sum.
  bool overlaps = false;
  /// Tokens go to each node once.
  bool byNode = false;
};

/// The choice of `level`, which has no curve, that takes least of `bytes`.
const RouteChoice &cheapest(const RouteLevel &level, double bytes);
/// Microseconds of one call on `bytes` (as reports define a collective's
/// buffer), and at full bandwidth.
double timeOf(const Route &route, double bytes);
double boundOf(const Route &route, double bytes);

/// The links of a pool, as a mesh of `devices` devices uses them.
class Network {
public:
  Network(const hardware::Pool &pool, int64_t devices)
      : pool(pool), devices(devices) {}

  /// The smallest tier whose domains hold all groups of `layout`; null where
  /// none does.
  const hardware::Tier *tierOf(const GroupLayout &layout) const;

  /// The route of a collective, with measured curves or, where `ideal`, at full
  /// bandwidth. A group that spans domains and has no curve of its own is
  /// priced as a hierarchy: with f devices of the group inside the domain,
  /// reduce-scatter there, the same collective across domains on bytes/f,
  /// all-gather there. Cho et al., "BlueConnect" (2019), section 3.
  ///
  /// An all-to-all is messages from each device to each other one, which NCCL
  /// sends at once, those inside a node beside those that leave it (NVIDIA/nccl
  /// pull request 401, version 2.8). Of n destinations, m are in a domain and k
  /// in one of the tier below: (m - k)/n of the bytes go over the tier, and the
  /// slowest tier counts. 32 devices in 4 nodes: 7/32 stay inside, 24/32 leave.
  ///
  /// With `spread`, tokens that leave a domain go to each other one once, and
  /// from where they arrive to each device there that has experts of theirs
  /// (DeepEP's kernels "with NVLink and RDMA forwarding", whose warps send and
  /// forward at once): the level above domains of k devices moves a token to
  /// `domainsReached` of them, of which 1 - k/m are not where it is. Inside the
  /// first tier alone rows go as ever, unless they do so `inNode`, too.
  Route route(program::CollectiveKind kind, const GroupLayout &layout,
              bool ideal, const TokenSpread *spread = nullptr) const;

  /// A collective of every device at position `from` of `axis` and that at
  /// position `to`. Of no tier where they are one, or no link joins them.
  Route join(program::CollectiveKind kind, const GroupAxis &axis, int64_t from,
             int64_t to, bool ideal) const;
  /// One message from every device at position `from` of `axis` to that at
  /// position `to`. Of no tier where no link joins them.
  Route transfer(const GroupAxis &axis, int64_t from, int64_t to,
                 bool ideal) const;

  /// What routes depend on of where an axis lies: axes of one size that lie
  /// alike have the same routes, whatever their strides.
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
