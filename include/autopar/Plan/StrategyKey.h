//===- StrategyKey.h - The program of a plan, as a key ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_STRATEGYKEY_H
#define AUTOPAR_PLAN_STRATEGYKEY_H

#include "autopar/Plan/Plan.h"

namespace autopar::plan {

/// Returns a text for the part of `plan` that determines the program: which
/// axes split what, and other choices, but not sizes, the order of axes on the
/// machine, or stages. Plans with equal keys have the same program. Axes that
/// change nothing are left out, so that a strategy has one key; axes of one
/// device that make a difference (ep = 1) are kept. Expert loads are left out;
/// only the fact that experts are placed is kept. Example: "dp=dpo*dpi tp=tp
/// ep=dpi*tp edp=dpo sp kv=fp8".
std::string strategyKeyOf(const Plan &plan);
/// Returns the strategy key of a plan that has no degrees and axes that change
/// nothing, faster.
std::string strategyKeyOfDistinct(const Plan &plan);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_STRATEGYKEY_H
