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
/// `axes` they determine the load of the most loaded device over the mean, by
/// which dimensions with `Dim::sharedBy` and collectives with
/// `Collective::sharedBy` grow.
struct PlacedExperts {
  struct Layer {
    /// The layer kind, as an index into `CostProgram::layers`.
    uint32_t kind = 0;
    placement::LayerLoads loads;
    std::vector<int32_t> slots;
    /// Traffic between nodes by the routing trace, if the layer has one: with
    /// this placement, and with the policy `block`.
    std::optional<placement::NodeTraffic> traffic, blockTraffic;
  };
  /// The axes that share the experts, major first.
  std::vector<AxisId> axes;
  placement::PlacementOptions options;
  int64_t experts = 1, slots = 1, groups = 1;
  /// The limit of an expert's load; absent if experts accept all tokens.
  std::optional<placement::LoadLimit> limit = std::nullopt;
  /// The name by which the user gave the loads: a word or a file.
  std::string source;
  /// The layers with placed experts, sorted by layer number.
  std::vector<Layer> layers;
  /// If set, it computes `slots` and `loads` of layers, which are then empty,
  /// because the placement and the number of slots depend on the layout. Until
  /// a layout is known, weights have `slots` slots.
  std::shared_ptr<placement::ExpertPlacer> placer = nullptr;
};

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_PLACEDEXPERTS_H
