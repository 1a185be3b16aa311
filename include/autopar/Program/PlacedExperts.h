//===- PlacedExperts.h - Placement and loads of experts ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_PLACEDEXPERTS_H
#define AUTOPAR_PROGRAM_PLACEDEXPERTS_H

#include "autopar/Placement/ExpertPlacer.h"
#include "autopar/Placement/LoadLimit.h"
#include "autopar/Placement/Placement.h"
#include "autopar/Program/Dim.h"

#include <memory>

namespace autopar::program {

/// The experts in the slots of each layer, and their tokens. With the sizes of
/// `axes` they determine the load of the most loaded device over the mean,
/// which scales `Dim::sharedBy` and `Collective::sharedBy`.
struct PlacedExperts {
  struct Layer {
    /// Index into `CostProgram::layers`.
    uint32_t kind = 0;
    placement::LayerLoads loads;
    std::vector<int32_t> slots;
    /// Traffic of a routing trace, if the layer has one.
    std::optional<placement::NodeTraffic> traffic, blockTraffic;
  };
  /// The axes that share the experts, major first.
  std::vector<AxisId> axes;
  placement::PlacementOptions options;
  int64_t experts = 1, slots = 1, groups = 1;
  /// Absent if experts accept all of their loads.
  std::optional<placement::LoadLimit> limit = std::nullopt;
  /// The user's name of the loads.
  std::string source;
  /// Sorted by layer number.
  std::vector<Layer> layers;
  /// If set, it replaces `slots` and `loads` of layers, which are then empty:
  /// the placement, and the number of slots, depend on the layout. Until then
  /// weights have `slots` slots.
  std::shared_ptr<placement::ExpertPlacer> placer = nullptr;
};

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_PLACEDEXPERTS_H
