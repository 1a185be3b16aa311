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

/// A layer of the stack that a step runs and that has routed experts.
struct ExpertLayer {
  /// As the repeat of layers counts it.
  int64_t number = 0;
  /// Where its experts are multiplied.
  mlir::FunctionOpInterface function;
  /// What the split of its weights makes room for: experts, and replicas.
  int64_t experts = 0, slots = 0;
  /// Groups of experts that its router selects from.
  int64_t groups = 1;
};

struct ExpertLayers {
  /// Rising, with equal numbers of experts and slots; 1 group where they differ
  /// in that.
  std::vector<ExpertLayer> all;
  /// One more than the number of the last layer, which may have no experts.
  int64_t stackLayers = 0;

  /// What loads of these layers must be of.
  placement::LoadShape shape() const;
};

/// Emits an error at experts that are in no numbered layer, at layers that
/// differ, and at too many.
mlir::FailureOr<ExpertLayers> findExpertLayers(mlir::ModuleOp module);

} // namespace autopar::analysis

#endif // AUTOPAR_ANALYSIS_EXPERTLAYERS_H
