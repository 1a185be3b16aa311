//===- PlanText.h - Plans in a few words: "tp8,pp2,sp" ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan text has words separated by commas or spaces: a degree and its size
// (`tp8`), a choice without a value (`sp`, `fsdp`), or one with a value
// (`kv-dtype=fp8`), named like flags without `--shard-`.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_PLANTEXT_H
#define AUTOPAR_PLAN_PLANTEXT_H

#include "autopar/Plan/Plan.h"

namespace autopar::plan {

/// Parses a plan in words, such as "tp8,pp2,sp". Errors name the word, its
/// position, and the nearest known word.
Result<Plan> parsePlanText(std::string_view text);
/// Writes the plan in the words of `parsePlanText`, without axes of one device;
/// nothing if words cannot express the plan, for example a mesh with axes of
/// other names.
std::optional<std::string> planText(const Plan &plan);

/// Reads a plan from a file (`autopar.plan/1`), or parses its text: that of
/// such a file, or words.
Result<Plan> loadPlan(const std::string &fileOrText);
/// Splits a list of plans: at semicolons and, if they are files, also at
/// commas.
std::vector<std::string> splitPlans(std::string_view text);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_PLANTEXT_H
