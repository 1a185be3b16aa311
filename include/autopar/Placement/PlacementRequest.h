//===- PlacementRequest.h - Placements as users ask for them ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_PLACEMENTREQUEST_H
#define AUTOPAR_PLACEMENT_PLACEMENTREQUEST_H

#include "autopar/Placement/LoadSource.h"
#include "autopar/Placement/Placement.h"

namespace autopar::placement {

/// What is known about the experts of a model; empty if no model was given.
struct ModelExperts {
  LoadShape shape;
  int64_t groups = 1;
  /// Number of layers of the model, those without experts included; 0 if not
  /// known.
  int64_t decoderLayers = 0;
  /// Bytes of one expert in one layer; 0 if not known.
  Checked expertBytes = 0;
};

/// The user's choices for `autopar place-experts`. A number that is not given
/// is 0.
struct PlacementRequest {
  ModelExperts model;
  LoadSources sources;
  /// Texts of flags. `map` is a file with the experts in all slots; it is
  /// evaluated instead of placing experts.
  std::string policy, layers, format, engine, map;
  int64_t experts = 0, ranks = 0, slotsPerRank = 0, redundant = 0, nodes = 1,
          groups = 0, decoderLayers = 0, budgetBytes = 0, expertBytes = 0;
  bool groupsInNode = false;
  double tolerance = PlacementOptions().tolerance;
};

/// Carries out the request and returns the text that the command prints.
Result<std::string> runPlacement(PlacementRequest request);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_PLACEMENTREQUEST_H
