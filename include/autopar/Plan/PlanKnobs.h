//===- PlanKnobs.h - The choices of a plan, each said once ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is axes, degrees and knobs. Flags and their groups in help, pipeline
// options, `autopar.plan/1`, the keys of strategies, what a search takes, and
// the server's document are read off this table. Private to who reads or writes
// plans.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_PLANKNOBS_H
#define AUTOPAR_PLAN_PLANKNOBS_H

#include "autopar/Plan/Plan.h"

#include <nlohmann/json_fwd.hpp>

namespace autopar::plan {

/// A choice of a plan.
struct PlanKnob {
  /// The flag, without dashes; null where none sets it.
  const char *flag;
  /// Where `autopar.plan/1` has it: "dtype", "pipeline.schedule".
  const char *key;
  /// How help writes its value: "format"; "true" of one that is set alone.
  const char *value;
  const char *help;
  /// Sets what `text` says. What was expected where it says nothing of it.
  std::optional<std::string> (*set)(Plan &plan, std::string_view text);
  /// Sets the member `name` of `object`, where it has one; else keeps.
  void (*read)(const JsonReader &object, std::string_view name, Plan &plan);
  /// Its value; null where the plan leaves it open.
  nlohmann::ordered_json (*write)(const Plan &plan);
  /// The heading of help that the flag is under.
  const char *group = nullptr;
  /// Whether plans that differ in it are different programs: then the key of a
  /// strategy has it.
  bool makesProgram = false;
  /// Whether a search takes it, for all of its plans.
  bool isOfAllPlans = false;
  /// The pass that takes it by an option of the flag's name; null where it
  /// comes to passes in another way.
  const char *pass = nullptr;
  /// Another name of the flag, and its help; null where there is none.
  const char *alias = nullptr;
  std::string aliasHelp;
};

/// The value of `knob` as the text of its flag; none where the plan leaves it
/// open.
std::optional<std::string> textOf(const PlanKnob &knob, const Plan &plan);

/// All, in the order of `autopar.plan/1`.
const std::vector<PlanKnob> &planKnobs();

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_PLANKNOBS_H
