//===- StrategyKey.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/StrategyKey.h"

#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Support/Text.h"

using namespace autopar;

static void add(std::string &key, const std::string &part) {
  key += key.empty() ? part : " " + part;
}

static void addTraining(std::string &key, const TrainingPlan &training) {
  auto addWord = [&](const char *name, const auto &value) {
    if (value)
      add(key, std::string(name) + "=" + std::string(nameOf(*value)));
  };
  if (training.recompute && training.recompute->str() != "none")
    add(key, "recompute=" + training.recompute->str());
  addWord("optimizer", training.optimizer);
  if (training.zero.value_or(0) > 0)
    add(key, "zero=" + std::to_string(*training.zero));
  addWord("gradient", training.gradientFormat);
  if (training.masterFormat)
    add(key,
        training.masterFormat->format
            ? "master=" + std::string(nameOf(*training.masterFormat->format))
            : "master=none");
  addWord("state", training.stateFormat);
  addWord("product", training.productFormat);
  if (training.dropout)
    add(key, "dropout=" + formatNumber(*training.dropout));
  if (training.expertCapacityFactor)
    add(key, "capacity=" + formatNumber(*training.expertCapacityFactor));
  if (training.padsExpertsToCapacity)
    add(key, "padded");
  if (training.mtpLayers)
    add(key, "mtp=" + std::to_string(*training.mtpLayers));
  if (training.unfusedAttention)
    add(key, "unfused");
  addWord("loss", training.loss);
  if (training.lossChunks)
    add(key, "chunks=" + std::to_string(*training.lossChunks));
}

std::string autopar::strategyKeyOf(const Plan &given) {
  Plan plan = given;
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  return strategyKeyOfDistinct(plan);
}

std::string autopar::strategyKeyOfDistinct(const Plan &plan) {
  std::string key;
  for (Degree degree : allDegrees)
    if (degree != Degree::pp && plan.has(degree))
      add(key,
          std::string(nameOf(degree)) + "=" + join(plan.axesOf(degree), "*"));
  // What nothing is sent over is computed where it is.
  for (const PlanAxis &axis : plan.axes)
    if (axis.size == 1 && axis.name != nameOf(Degree::pp))
      add(key, axis.name + "=1");
  if (plan.sequenceParallel)
    add(key, "sp");
  if (plan.fsdp)
    add(key, "fsdp");
  if (plan.has(Degree::cp))
    add(key, plan.contextKind ? std::string(nameOf(*plan.contextKind))
                              : "context by default");
  addTraining(key, plan.training);
  if (plan.dispatchByNode)
    add(key, "by_node");
  if (plan.dispatchDtype)
    add(key, "dispatch=" + std::string(nameOf(*plan.dispatchDtype)));
  if (plan.expertPlacement && plan.expertPlacement->redundant)
    add(key, "redundant=" + std::to_string(plan.expertPlacement->redundant));
  if (plan.expertPlacement)
    add(key, "placed");
  if (plan.dtype)
    add(key, "dtype=" + std::string(nameOf(*plan.dtype)));
  if (plan.kvDtype)
    add(key, "kv=" + std::string(nameOf(*plan.kvDtype)));
  return key;
}
