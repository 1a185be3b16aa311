//===- RuntimeDefaults.h - What a framework does unasked --------*- C++ -*-===//
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

/// The runtime `name`, where it is one that trains. A name that is none is an
/// error of those who bind the target.
std::optional<runtime::Runtime>
findTrainer(const std::string &name,
            const std::vector<hardware::Override> &overrides);

/// Gives `degrees` the etp that `trainer` has where experts are parallel and
/// nobody says how their matrices are split. Returns whether it did.
bool takeExpertTensor(const runtime::Runtime &trainer, plan::Degrees &degrees);

/// Gives `plan` the loss of `trainer`, where nobody has chosen one.
void takeLoss(const runtime::Runtime &trainer, plan::TrainingPlan &plan);

/// Where `trainer` leaves fully sharded weights whole between the microbatches
/// of stages, makes `plan` what that is: ZeRO 1, which has states in parts,
/// reduces gradients once and gathers new weights once. A plan that says ZeRO 3
/// itself stays.
void keepWholeInStages(const runtime::Runtime &trainer, plan::Plan &plan);

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_RUNTIMEDEFAULTS_H
