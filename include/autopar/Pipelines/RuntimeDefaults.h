//===- RuntimeDefaults.h - Defaults of training frameworks ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PIPELINES_RUNTIMEDEFAULTS_H
#define AUTOPAR_PIPELINES_RUNTIMEDEFAULTS_H

#include "autopar/Plan/Degrees.h"
#include "autopar/Runtime/Runtime.h"

namespace autopar::pipelines {

/// Returns the runtime `name` if it is one for training; nothing if it is not,
/// or if it is unknown (the pass that binds the target reports that).
std::optional<runtime::Runtime>
findTrainer(const std::string &name,
            const std::vector<hardware::Override> &overrides);

/// Sets etp in `degrees` to the default of the runtime `trainer`, if experts
/// are parallel and etp is open. Returns whether it did.
bool takeExpertTensor(const runtime::Runtime &trainer, plan::Degrees &degrees);

/// Sets the form of the loss in `plan` to that of the runtime `trainer`, if the
/// plan leaves it open.
void takeLoss(const runtime::Runtime &trainer, plan::TrainingPlan &plan);

/// If the runtime `trainer` does not split fully sharded weights again between
/// the microbatches of a pipeline, turns `plan` into what it does instead: ZeRO
/// 1, which splits states, reduces gradients once and gathers new weights once.
/// A plan that sets ZeRO 3 itself is not changed.
void keepWholeInStages(const runtime::Runtime &trainer, plan::Plan &plan);

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_RUNTIMEDEFAULTS_H
