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

/// Phases of passes, in order.
enum class PassPhase : uint8_t {
  /// Target, workload and requests: the same for all plans of a model.
  bind,
  formats,
  /// The forward and the backward of training.
  train,
  mesh,
  /// Layouts in types, and reshards between different ones.
  split,
  /// Collectives, and the format and path of routed tokens.
  communicate,
  /// Experts on devices.
  place,
  /// Layers on stages.
  stage
};

struct PlannedPass {
  std::unique_ptr<mlir::Pass> pass;
  PassPhase phase;
  /// Whether the result of the pass depends on the sizes of axes; programs for
  /// all sizes skip it.
  bool dependsOnSizes = false;
};

using PassList = llvm::SmallVector<PlannedPass, 0>;

/// Inputs of passes besides a plan.
struct PassSettings {
  /// The multiple to which the vocabulary is padded; 0: the target's.
  int64_t vocabularyMultiple = 0;
  /// Whether the program is for all sizes of axes. Degrees except dp, cp and tp
  /// are then left out of the mesh, so that programs on the same axes begin
  /// alike; experts and layers are not placed.
  bool sizesAreOpen = false;
  /// Shared by programs that are made one after another.
  std::shared_ptr<reshard::KnownReshards> reshards =
      std::make_shared<reshard::KnownReshards>();
};

/// All passes that turn a model into the program of `request`, in order.
/// Pipelines add this list, and the strategy library grows a tree of it.
PassList passesOf(PlanRequest request, const PassSettings &settings = {});
/// `passes` as text, for the option of a pass that parses and runs them.
std::string pipelineText(const mlir::OpPassManager &passes);

//===----------------------------------------------------------------------===//
// Passes of plans; each is null if a plan does not need it
//===----------------------------------------------------------------------===//

/// Sets the formats of activations and caches.
std::unique_ptr<mlir::Pass>
createFormatsPass(const plan::Plan &plan, bool runtimeDecides, bool keepsRows);
/// Turns a step into the forward of training.
std::unique_ptr<mlir::Pass> createTrainingPass(const plan::Plan &plan);
/// Builds the backward.
std::unique_ptr<mlir::Pass> createBackwardPass(const plan::Plan &plan);
/// Splits a model by `plan`, and leaves reshards.
llvm::SmallVector<std::unique_ptr<mlir::Pass>>
createShardingPasses(const plan::Plan &plan, int64_t vocabularyMultiple);
/// Sets the format and path of routed tokens, once there are collectives.
std::unique_ptr<mlir::Pass> createDispatchPass(const plan::Plan &plan);
/// Places experts.
std::unique_ptr<mlir::Pass> createPlacementPass(const plan::Plan &plan);

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_PASSLIST_H
