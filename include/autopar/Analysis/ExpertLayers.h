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

/// A layer of the stack with routed experts that a step runs.
struct ExpertLayer {
  /// Its number in the repeats of layers.
  int64_t number = 0;
  /// The function with the matmuls of its experts.
  mlir::FunctionOpInterface function;
  /// Slots by the split of its weights: for experts, and for experts with
  /// replicas.
  int64_t experts = 0, slots = 0;
  /// Groups of experts that its router selects from.
  int64_t groups = 1;
};

struct ExpertLayers {
  /// Sorted by number, with equal numbers of experts and slots; `groups` is 1
  /// if the layers differ in it.
  std::vector<ExpertLayer> all;
  /// One more than the number of the last layer, which may have no experts.
  int64_t stackLayers = 0;

  /// The shape that loads of these layers must have.
  placement::LoadShape shape() const;
};

/// Emits an error for experts outside of numbered layers, for layers that
/// differ, and for too many layers.
mlir::FailureOr<ExpertLayers> findExpertLayers(mlir::ModuleOp module);

} // namespace autopar::analysis

#endif // AUTOPAR_ANALYSIS_EXPERTLAYERS_H
