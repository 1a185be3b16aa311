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

/// Holds the routes of links and the load imbalances of experts for layouts;
/// each route and each imbalance is computed once.
class LayoutState {
public:
  LayoutState(const Leaves &leaves, const hardware::Pool &pool,
              const runtime::Runtime &runtime);

  /// Sets the layout. Returns whether it differs from the last one that was
  /// set.
  bool lay(const Layout &layout);
  /// Returns the value of a leaf in the current layout.
  double valueOf(Op op, uint32_t index) const;
  const RouteView *routes() const { return views.data(); }
  const Route &route(uint32_t link) const { return *current[link]; }
  /// Returns whether a link joins the devices of `link`.
  bool isJoined(uint32_t link) const { return joined[link]; }
  /// Returns whether the layout has slots for all placed experts.
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
  /// What is known of a group of devices that communicate with each other.
  struct KnownGroup {
    GroupLayout layout;
    /// Number of devices in the group (`size`) and in the whole mesh
    /// (`devices`).
    int64_t size = 1, devices = 1;
    /// The routes of the group, by `CollectiveKind`; null until they are
    /// needed.
    std::array<std::unique_ptr<KnownRoute>,
               static_cast<size_t>(program::CollectiveKind::ring) + 1>
        routes;
    /// The routes of exchanges in which a token goes to each node only once.
    std::vector<std::pair<TokenSpread, std::unique_ptr<KnownRoute>>>
        routesByNode;
  };
  struct KnownSkews {
    int64_t ranks, nodes, slots;
    bool arePlaced;
    /// Skews, peaks and kept shares of tokens in millionths, by layer kind, up
    /// to the last layer kind that has placed experts.
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
  /// The start-up time in us of a collective between nodes (`addStart`).
  const double startUs;
  const Layout *layout = nullptr;
  /// The layout that was set last: its axes, devices and expert slots.
  std::vector<GroupAxis> laidAxes;
  int64_t laidDevices = 0, laidSlots = 0;
  /// `groups` has the distinct lists of axes of links; `groupOf` gives for each
  /// link the index into it.
  std::vector<std::vector<program::AxisId>> groups;
  std::vector<uint32_t> groupOf;
  /// The known group of each list of axes in `groups`.
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
