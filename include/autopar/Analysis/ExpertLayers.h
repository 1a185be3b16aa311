//===- ExpertLayers.h - The layers that have routed experts -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_ANALYSIS_EXPERTLAYERS_H
#define AUTOPAR_ANALYSIS_EXPERTLAYERS_H

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Placement/LoadProfile.h"

namespace autopar::analysis {

/// A layer with routed experts that a step runs.
struct ExpertLayer {
  /// Number of the layer in the stack, from 0, over all loops of layers.
  int64_t number = 0;
  /// The function that contains the matmuls of the layer's experts.
  mlir::FunctionOpInterface function;
  /// Number of expert slots of the layer: `experts` without replicas of
  /// experts, `slots` with them. Both are read from the split of the experts'
  /// weights.
  int64_t experts = 0, slots = 0;
  /// Number of expert groups from which the layer's router selects.
  int64_t groups = 1;
};

struct ExpertLayers {
  /// The layers, sorted by number. All have equal numbers of experts and slots;
  /// `groups` is set to 1 if the layers differ in it.
  std::vector<ExpertLayer> all;
  /// Number of layers of the stack up to its last one, which may have no
  /// experts.
  int64_t stackLayers = 0;

  /// The shape (layers, experts, groups) that a file of expert loads for these
  /// layers must have.
  placement::LoadShape shape() const;
};

/// Finds the layers with routed experts of `module`. Emits an error for experts
/// outside of numbered layers, for layers with different numbers of experts,
/// and for too many layers.
mlir::FailureOr<ExpertLayers> findExpertLayers(mlir::ModuleOp module);

} // namespace autopar::analysis

#endif // AUTOPAR_ANALYSIS_EXPERTLAYERS_H
