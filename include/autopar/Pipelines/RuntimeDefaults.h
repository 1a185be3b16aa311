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

/// The runtime `name`, if it trains. An unknown name is an error of the pass
/// that binds the target.
std::optional<runtime::Runtime>
findTrainer(const std::string &name,
            const std::vector<hardware::Override> &overrides);

/// Sets etp in `degrees` to the default of `trainer`, if experts are parallel
/// and etp is open. Returns whether it did.
bool takeExpertTensor(const runtime::Runtime &trainer, plan::Degrees &degrees);

/// Sets the loss of `plan` to that of `trainer`, if it is open.
void takeLoss(const runtime::Runtime &trainer, plan::TrainingPlan &plan);

/// If `trainer` keeps fully sharded weights whole between the microbatches of
/// stages, turns `plan` into its equivalent: ZeRO 1, which splits states,
/// reduces gradients once and gathers new weights once. A plan that sets ZeRO 3
/// itself stays.
void keepWholeInStages(const runtime::Runtime &trainer, plan::Plan &plan);

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_RUNTIMEDEFAULTS_H
