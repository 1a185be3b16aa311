//===- PassList.h - The passes of a plan in their order ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PIPELINES_PASSLIST_H
#define AUTOPAR_LIB_PIPELINES_PASSLIST_H

#include "autopar/Pipelines/PlanPasses.h"
#include "autopar/Reshard/Planner.h"

namespace autopar::pipelines {

/// What passes do, in the order in which they run.
enum class PassPhase : uint8_t {
  /// Target, workload and requests: the same for all plans of a model.
  bind,
  formats,
  /// The forward and the backward of training.
  train,
  mesh,
  /// Layouts in types, and reshards where they meet.
  split,
  /// Collectives, and how tokens travel.
  communicate,
  /// Experts on devices.
  place,
  /// Layers on stages.
  stage
};

struct PlannedPass {
  std::unique_ptr<mlir::Pass> pass;
  PassPhase phase;
  /// Whether what the pass leaves depends on how many devices an axis has: a
  /// program of all sizes does without it.
  bool dependsOnSizes = false;
};

using PassList = llvm::SmallVector<PlannedPass, 0>;

/// What passes need besides a plan.
struct PassSettings {
  /// The vocabulary is padded to a multiple of it; 0: of the target's.
  int64_t vocabularyMultiple = 0;
  /// Whether the program is to be one for all sizes of axes. Degrees but dp, cp
  /// and tp are then left out of the mesh, so that programs on the same axes
  /// begin alike; experts and layers have no places.
  bool sizesAreOpen = false;
  /// Shared by programs that are made one after another.
  std::shared_ptr<reshard::KnownReshards> reshards =
      std::make_shared<reshard::KnownReshards>();
};

/// All passes that turn a model into the program of `request`. This list has
/// their order; pipelines add it, and the strategy library grows a tree of it.
PassList passesOf(PlanRequest request, const PassSettings &settings = {});
/// What a pass that runs `passes` has as its option, and parses.
std::string pipelineText(const mlir::OpPassManager &passes);

//===----------------------------------------------------------------------===//
// Passes of plans, each null where a plan does not ask for it
//===----------------------------------------------------------------------===//

/// Gives activations and caches the formats of `plan`.
std::unique_ptr<mlir::Pass> createFormatsPass(const plan::Plan &plan,
                                              bool runtimeDecides);
/// Makes a step the forward of training.
std::unique_ptr<mlir::Pass> createTrainingPass(const plan::Plan &plan);
/// Writes the backward.
std::unique_ptr<mlir::Pass> createBackwardPass(const plan::Plan &plan);
/// Split a model as `plan` says, and leave reshards.
llvm::SmallVector<std::unique_ptr<mlir::Pass>>
createShardingPasses(const plan::Plan &plan, int64_t vocabularyMultiple);
/// Says how routed tokens travel, once there are collectives.
std::unique_ptr<mlir::Pass> createDispatchPass(const plan::Plan &plan);
/// Places experts.
std::unique_ptr<mlir::Pass> createPlacementPass(const plan::Plan &plan);

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_PASSLIST_H
