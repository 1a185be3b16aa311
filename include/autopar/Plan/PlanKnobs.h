//===- PlanKnobs.h - The choices of a plan, each said once ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan consists of axes, degrees and knobs. This table defines the knobs for
// flags and their groups in help, pipeline options, `autopar.plan/1`, the keys
// of strategies, searches, and the server's document. It is private to readers
// and writers of plans.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_PLANKNOBS_H
#define AUTOPAR_PLAN_PLANKNOBS_H

#include "autopar/Plan/Plan.h"

#include <nlohmann/json_fwd.hpp>

namespace autopar::plan {

/// A choice of a plan.
struct PlanKnob {
  /// The flag, without dashes; null if there is none.
  const char *flag;
  /// The path in `autopar.plan/1`: "dtype", "pipeline.schedule".
  const char *key;
  /// The value in help: "format"; "true" for a flag without a value.
  const char *value;
  const char *help;
  /// Sets the knob from `text`. Returns the expected form if `text` is invalid.
  std::optional<std::string> (*set)(Plan &plan, std::string_view text);
  /// Sets the knob from the member `name` of `object`, if present.
  void (*read)(const JsonReader &object, std::string_view name, Plan &plan);
  /// The knob's value; null if the plan leaves it open.
  nlohmann::ordered_json (*write)(const Plan &plan);
  /// The heading in help that lists the flag.
  const char *group = nullptr;
  /// Whether plans with different values are different programs, so that the
  /// value is part of the strategy's key.
  bool makesProgram = false;
  /// Whether a search takes it, for all of its plans.
  bool isOfAllPlans = false;
  /// The pass with an option of the flag's name; null if no pass has it.
  const char *pass = nullptr;
  /// Another name of the flag, and its help; null if there is none.
  const char *alias = nullptr;
  std::string aliasHelp;
};

/// The value of `knob` as the text of its flag; none if the plan leaves it
/// open.
std::optional<std::string> textOf(const PlanKnob &knob, const Plan &plan);

/// All knobs, in the order of `autopar.plan/1`.
const std::vector<PlanKnob> &planKnobs();

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_PLANKNOBS_H
