//===- ShardingPasses.h - From a plan to passes -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PIPELINES_SHARDINGPASSES_H
#define AUTOPAR_LIB_PIPELINES_SHARDINGPASSES_H

#include "autopar/Plan/Plan.h"

#include "mlir/Pass/PassManager.h"

namespace autopar::pipelines {

using PassList = llvm::SmallVector<std::unique_ptr<mlir::Pass>>;

/// The passes that split a model as `plan` says. The vocabulary is padded to a
/// multiple of `vocabularyMultiple` (0: of the module's target). What they
/// leave has reshards, which `createInsertCollectivesPass` turns into
/// collectives.
PassList createShardingPasses(const plan::Plan &plan,
                              int64_t vocabularyMultiple);
/// The pass that makes a step the forward of training, and that which writes
/// its backward.
std::unique_ptr<mlir::Pass> createTrainingPass(const plan::Plan &plan);
std::unique_ptr<mlir::Pass> createBackwardPass(const plan::Plan &plan);
/// The pass that gives activations and caches the formats of `plan`; null where
/// it says none.
std::unique_ptr<mlir::Pass> createFormatsPass(const plan::Plan &plan,
                                              bool runtimeDecides = false);
/// The pass that says how routed tokens travel, once there are collectives;
/// null where `plan` says nothing of it.
std::unique_ptr<mlir::Pass> createDispatchPass(const plan::Plan &plan);
/// Adds the pass that places experts, where `plan` says how.
void addPlacementPass(mlir::OpPassManager &pm, const plan::Plan &plan);
/// What a pass that runs `passes` has as its option, and parses.
std::string pipelineText(const mlir::OpPassManager &passes);

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_SHARDINGPASSES_H
