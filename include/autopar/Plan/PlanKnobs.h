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

/// A choice that a plan can make: its flag, its key in files, and how to read
/// and write it.
struct PlanKnob {
  /// The name of the flag, without dashes; null if there is none.
  const char *flag;
  /// The path of the choice in `autopar.plan/1`: "dtype", "pipeline.schedule".
  const char *key;
  /// The placeholder for the value in help: "format"; "true" for a flag without
  /// a value.
  const char *value;
  const char *help;
  /// Sets the choice from the text of the flag. If `text` is invalid, returns a
  /// description of what is expected.
  std::optional<std::string> (*set)(Plan &plan, std::string_view text);
  /// Sets the choice from the member `name` of a JSON object, if the object has
  /// it.
  void (*read)(const JsonReader &object, std::string_view name, Plan &plan);
  /// Returns the value of the choice as JSON; null if the plan leaves it open.
  nlohmann::ordered_json (*write)(const Plan &plan);
  /// The heading in help under which the flag is listed.
  const char *group = nullptr;
  /// Whether plans with different values need different programs, so that the
  /// value is part of the strategy key.
  bool makesProgram = false;
  /// Whether `autopar search` accepts the flag, for all of its plans.
  bool isOfAllPlans = false;
  /// The pass that has an option with the flag's name; null if no pass has it.
  const char *pass = nullptr;
  /// Another name of the flag, and the help for it; null if there is none.
  const char *alias = nullptr;
  std::string aliasHelp;
};

/// Returns the value of `knob` as its flag would write it; nothing if the plan
/// leaves it open.
std::optional<std::string> textOf(const PlanKnob &knob, const Plan &plan);

/// Returns all choices of plans, in the order of `autopar.plan/1`.
const std::vector<PlanKnob> &planKnobs();

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_PLANKNOBS_H
