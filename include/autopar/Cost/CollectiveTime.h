//===- CollectiveTime.h - Bytes and time of collectives ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_COLLECTIVETIME_H
#define AUTOPAR_COST_COLLECTIVETIME_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Support/Checked.h"

#include <vector>

namespace autopar {

/// Where the devices of a group lie: one entry per axis, outermost first, with
/// the distance between neighbours and their number.
struct GroupAxis {
  int64_t stride = 1, size = 1;
};
using GroupLayout = std::vector<GroupAxis>;

/// Devices of one group.
int64_t sizeOf(const GroupLayout &layout);

/// `curve` at `bytes`, microseconds: log-log between its powers of two,
/// constant below, proportional to the bytes above.
double interpolate(const CollectiveCurve &curve, double bytes);

/// Bytes per second that a large transfer reaches over `tier`, one way.
double reachedBandwidth(const Tier &tier, bool ideal);

/// One call, and how it was priced.
struct CollectiveTime {
  double timeUs = 0;
  /// Wire bytes of a ring over bandwidths, with neither latency nor efficiency;
  /// the expected time where that is less, as where a switch reduces.
  double idealUs = 0;
  /// The smallest tier that joins the group.
  const Tier *tier = nullptr;
  /// Curves were measured at other group sizes, or there are none.
  bool interpolated = false, modelled = false;
  /// The sum of a step inside each tier.
  bool hierarchical = false;
};

/// The links of a pool, as a mesh of `devices` devices uses them.
class Network {
public:
  Network(const Pool &pool, int64_t devices) : pool(pool), devices(devices) {}

  /// The smallest tier whose domains hold all groups of `layout`; null where
  /// none does.
  const Tier *tierOf(const GroupLayout &layout) const;

  /// Time of one call on a buffer of `bytes` (as reports define it), with
  /// measured curves or, where `ideal`, at full bandwidth. A group that spans
  /// domains and has no curve of its own is priced as a hierarchy: with f
  /// devices of the group inside the domain, reduce-scatter there, the same
  /// collective across domains on bytes/f, all-gather there (all_to_all moves
  /// all its bytes at each level). Cho et al., "BlueConnect" (2019), section 3.
  CollectiveTime time(CollectiveKind kind, const GroupLayout &layout,
                      double bytes, bool ideal) const;

  /// One message of `bytes` from every device at position `from` of `axis` to
  /// that at position `to`. Of no tier where no link joins them.
  CollectiveTime transfer(const GroupAxis &axis, int64_t from, int64_t to,
                          double bytes, bool ideal) const;

private:
  bool joins(const Tier &tier, const GroupAxis &axis, int64_t from,
             int64_t to) const;
  bool holds(const Tier &tier, const GroupLayout &layout) const;
  void addLevel(CollectiveKind kind, int64_t size, double bytes,
                const Tier &tier, bool ideal, CollectiveTime &time) const;
  void addHierarchy(CollectiveKind kind, const GroupLayout &layout,
                    double bytes, bool ideal, CollectiveTime &time) const;

  const Pool &pool;
  int64_t devices;
};

} // namespace autopar

#endif // AUTOPAR_COST_COLLECTIVETIME_H
