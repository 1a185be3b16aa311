//===- PlacedExperts.h - Where experts lie, and their loads -----*- C++ -*-===//
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

/// Which experts the slots of each layer hold, and how many tokens go to each:
/// with the sizes of `axes` it follows how far the hottest device is above the
/// mean, and with it what `Dim::sharedBy` and `Collective::sharedBy` scale.
struct PlacedExperts {
  struct Layer {
    /// Index into `CostProgram::layers`.
    uint32_t kind = 0;
    placement::LayerLoads loads;
    std::vector<int32_t> slots;
    /// Of a routing trace, where the layer has one.
    std::optional<placement::NodeTraffic> traffic, blockTraffic;
  };
  /// The axes that share the experts, major first.
  std::vector<AxisId> axes;
  placement::PlacementOptions options;
  int64_t experts = 1, slots = 1, groups = 1;
  /// Nothing where experts take all of their loads.
  std::optional<placement::LoadLimit> limit = std::nullopt;
  /// What the user called the loads.
  std::string source;
  /// By rising number.
  std::vector<Layer> layers;
  /// Says what `slots` and `loads` of layers do not, which are empty then:
  /// where experts lie, and how many slots there are, follows the layout.
  /// Weights have this number of `slots` until then.
  std::shared_ptr<placement::ExpertPlacer> placer = nullptr;
};

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_PLACEDEXPERTS_H
