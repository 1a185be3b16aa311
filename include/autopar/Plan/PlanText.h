//===- PlanText.h - Plans in a few words: "tp8,pp2,sp" ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Words with commas or spaces between them: a degree and its size (`tp8`), a
// choice that is set alone (`sp`, `fsdp`), or one with a value
// (`kv-dtype=fp8`), by the names that flags have behind `--shard-`.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_PLANTEXT_H
#define AUTOPAR_PLAN_PLANTEXT_H

#include "autopar/Plan/Plan.h"

namespace autopar::plan {

/// The plan that `text` says. Errors name the word, where it is, and the
/// nearest that there is.
Result<Plan> parsePlanText(std::string_view text);
/// What `parsePlanText` reads back as the same plan, but for axes of one
/// device; nothing of a plan that has more than words say, as a mesh of its
/// own.
std::optional<std::string> planText(const Plan &plan);

/// The plan of a file of `autopar.plan/1`, or of a text.
Result<Plan> loadPlan(const std::string &fileOrText);
/// Several plans, between semicolons; files also between commas.
std::vector<std::string> splitPlans(std::string_view text);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_PLANTEXT_H
