//===- RuntimeDefaults.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/RuntimeDefaults.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::runtime;

std::optional<Runtime>
autopar::pipelines::findTrainer(const std::string &name,
                                const std::vector<Override> &overrides) {
  if (name.empty())
    return std::nullopt;
  std::vector<bool> used(overrides.size());
  Result<Runtime> runtime = readRuntime(name, overrides, used);
  if (!runtime || !runtime->training)
    return std::nullopt;
  return std::move(*runtime);
}

bool autopar::pipelines::takeExpertTensor(const Runtime &trainer,
                                          Degrees &degrees) {
  bool isOpen = degrees.ep && !degrees.etp && degrees.tp.value_or(1) > 1;
  if (!isOpen || trainer.training->splitsExpertsByTp.value == 0)
    return false;
  degrees.etp = degrees.tp;
  return true;
}

void autopar::pipelines::takeLoss(const Runtime &trainer, TrainingPlan &plan) {
  if (!plan.loss)
    plan.loss = trainer.training->loss;
}

void autopar::pipelines::keepWholeInStages(const Runtime &trainer, Plan &plan) {
  bool hasStages = plan.has(Degree::pp) && plan.sizeOf(Degree::pp) != 1;
  bool isSharded = plan.fsdp && !plan.training.zero;
  if (!hasStages || !isSharded ||
      trainer.training->keepsWholeInStages.value == 0)
    return;
  plan.fsdp = false;
  plan.training.zero = 1;
}
