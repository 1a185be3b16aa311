//===- LayoutState.h - Values that a layout determines ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_LAYOUTSTATE_H
#define AUTOPAR_LIB_COST_LAYOUTSTATE_H

#include "Run.h"

#include "autopar/Cost/Pricer.h"

#include <array>
#include <memory>
#include <unordered_map>

namespace autopar::cost {

/// Routes of links, and load imbalances of experts, for layouts; each is
/// computed once.
class LayoutState {
public:
  LayoutState(const Leaves &leaves, const hardware::Pool &pool,
              const runtime::Runtime &runtime);

  /// Sets the layout. Returns whether it differs from the last one.
  bool lay(const Layout &layout);
  /// The value of a leaf.
  double valueOf(Op op, uint32_t index) const;
  const RouteView *routes() const { return views.data(); }
  const Route &route(uint32_t link) const { return *current[link]; }
  /// Whether a link joins the devices of `link`.
  bool isJoined(uint32_t link) const { return joined[link]; }
  /// Whether the layout has slots for all placed experts.
  bool placesExperts() const { return skews && skews->arePlaced; }
  int64_t skewOf(uint32_t kind) const;
  int64_t peakSkewOf(uint32_t kind) const;
  int64_t keptOf(uint32_t kind) const;

private:
  struct KnownRoute {
    Route route;
    std::vector<RouteStep> steps;
    RouteView view;

    void resolve();
  };
  /// A group of communicating devices.
  struct KnownGroup {
    GroupLayout layout;
    /// Devices of the group, and of the whole mesh.
    int64_t size = 1, devices = 1;
    /// Routes by `CollectiveKind`; null until needed.
    std::array<std::unique_ptr<KnownRoute>,
               static_cast<size_t>(program::CollectiveKind::ring) + 1>
        routes;
    /// Routes of tokens that go to each node once.
    std::vector<std::pair<TokenSpread, std::unique_ptr<KnownRoute>>>
        routesByNode;
  };
  struct KnownSkews {
    int64_t ranks, nodes, slots;
    bool arePlaced;
    /// By layer kind, up to the last with placed experts; in millionths.
    std::vector<int64_t> skews, peaks, kept;
  };

  KnownGroup &find(const std::vector<program::AxisId> &axes,
                   const Layout &next);
  const KnownRoute &routeOf(program::CollectiveKind kind,
                            KnownGroup &group) const;
  const KnownRoute &routeByNode(const LinkUse &link, KnownGroup &group);
  void setSpread(const LinkUse &link);
  int64_t sentOf(uint32_t link) const;
  void findSkews();

  const Leaves &leaves;
  const hardware::Pool &pool;
  const bool ideal;
  /// Start-up time of collectives between nodes (`addStart`).
  const double startUs;
  const Layout *layout = nullptr;
  /// The last layout.
  std::vector<GroupAxis> laidAxes;
  int64_t laidDevices = 0, laidSlots = 0;
  /// The distinct lists of axes of links; index into it by link.
  std::vector<std::vector<program::AxisId>> groups;
  std::vector<uint32_t> groupOf;
  /// Known groups, by index into `groups`.
  std::vector<KnownGroup *> laid;
  GroupLayout wanted;
  TokenSpread spread;
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<KnownGroup>>> known;
  std::vector<std::unique_ptr<KnownSkews>> knownSkews;
  const KnownSkews *skews = nullptr;
  std::vector<const Route *> current;
  std::vector<RouteView> views;
  std::vector<bool> joined;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_LAYOUTSTATE_H
