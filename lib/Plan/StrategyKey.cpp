//===- StrategyKey.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/StrategyKey.h"

#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;

static void add(std::string &key, const std::string &part) {
  key += key.empty() ? part : " " + part;
}

/// Returns the choices of `plan` that determine the program; equivalent choices
/// get the same value.
static Plan withOneSpelling(Plan plan) {
  TrainingPlan &training = plan.training;
  if (training.recompute && training.recompute->str() == "none")
    training.recompute.reset();
  if (training.zero == 0)
    training.zero.reset();
  if (!plan.has(Degree::cp))
    plan.contextKind.reset();
  return plan;
}

std::string autopar::plan::strategyKeyOf(const Plan &given) {
  Plan plan = given;
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  return strategyKeyOfDistinct(plan);
}

std::string autopar::plan::strategyKeyOfDistinct(const Plan &plan) {
  std::string key;
  for (Degree degree : allDegrees)
    if (degree != Degree::pp && plan.has(degree))
      add(key,
          std::string(nameOf(degree)) + "=" + join(plan.axesOf(degree), "*"));
  // Nothing is sent over an axis of one device, so that such an axis makes
  // another program.
  for (const PlanAxis &axis : plan.axes)
    if (axis.size == 1 && axis.name != nameOf(Degree::pp))
      add(key, axis.name + "=1");
  Plan choices = withOneSpelling(plan);
  for (const PlanKnob &knob : planKnobs())
    if (knob.makesProgram)
      if (std::optional<std::string> text = textOf(knob, choices))
        add(key, std::string(knob.flag) + "=" + *text);
  if (plan.expertPlacement && plan.expertPlacement->redundant)
    add(key, "redundant=" + std::to_string(plan.expertPlacement->redundant));
  if (plan.expertPlacement)
    add(key, "placed");
  return key;
}
