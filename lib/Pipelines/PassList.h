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

/// The phases of passes, in the order in which they run.
enum class PassPhase : uint8_t {
  /// Binds the target, the workload and the requests, which are the same for
  /// all plans of a model.
  bind,
  formats,
  /// Makes the forward and the backward of training.
  train,
  mesh,
  /// Writes layouts into types, and reshards between different layouts.
  split,
  /// Makes collectives, and sets the format and path of routed tokens.
  communicate,
  /// Places experts on devices.
  place,
  /// Places layers on pipeline stages.
  stage
};

struct PlannedPass {
  std::unique_ptr<mlir::Pass> pass;
  PassPhase phase;
  /// Whether the result of the pass depends on the sizes of axes. Programs that
  /// hold for all sizes skip such a pass.
  bool dependsOnSizes = false;
};

using PassList = llvm::SmallVector<PlannedPass, 0>;

/// The inputs of passes besides the plan.
struct PassSettings {
  /// The multiple to which the vocabulary is padded. 0 means the multiple of
  /// the target.
  int64_t vocabularyMultiple = 0;
  /// Whether the program is made for all sizes of axes. Degrees except dp, cp
  /// and tp are then left out of the mesh, so that programs on the same axes
  /// begin alike; experts and layers are not placed.
  bool sizesAreOpen = false;
  /// The reshards that are known. Programs that are made one after another
  /// share them.
  std::shared_ptr<reshard::KnownReshards> reshards =
      std::make_shared<reshard::KnownReshards>();
};

/// Returns all passes, in order, that turn a model into the program of
/// `request`. Pipelines add this list, and the strategy library grows a tree of
/// it.
PassList passesOf(PlanRequest request, const PassSettings &settings = {});
/// Returns `passes` as text, for the option of a pass that parses and runs
/// them.
std::string pipelineText(const mlir::OpPassManager &passes);

//===----------------------------------------------------------------------===//
// Passes of plans; each is null if a plan does not need it
//===----------------------------------------------------------------------===//

/// Creates the pass that sets the formats of activations and caches.
std::unique_ptr<mlir::Pass>
createFormatsPass(const plan::Plan &plan, bool runtimeDecides, bool keepsRows);
/// Creates the pass that turns a step into the forward of training.
std::unique_ptr<mlir::Pass> createTrainingPass(const plan::Plan &plan);
/// Creates the pass that builds the backward.
std::unique_ptr<mlir::Pass> createBackwardPass(const plan::Plan &plan);
/// Creates the passes that split a model by `plan`; they leave reshards in it.
llvm::SmallVector<std::unique_ptr<mlir::Pass>>
createShardingPasses(const plan::Plan &plan, int64_t vocabularyMultiple);
/// Creates the pass that sets the format and path of routed tokens. It runs
/// after the passes that make collectives.
std::unique_ptr<mlir::Pass> createDispatchPass(const plan::Plan &plan);
/// Creates the pass that places experts.
std::unique_ptr<mlir::Pass> createPlacementPass(const plan::Plan &plan);

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_PASSLIST_H
