//===- StrategyKey.h - What of a plan changes the program -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_STRATEGYKEY_H
#define AUTOPAR_PLAN_STRATEGYKEY_H

#include "autopar/Plan/Plan.h"

namespace autopar::plan {

/// What of `plan` changes the program: which axes split what, and the choices;
/// neither sizes nor the order of axes on the machine, nor stages. Plans with
/// one key have one program. Neutral axes are none: a strategy has one
/// spelling. Axes of one device that say something (ep = 1) are told.
/// Which loads experts have is none of it: only that they are placed.
/// "dp=dpo*dpi tp=tp ep=dpi*tp edp=dpo sp kv=fp8".
std::string strategyKeyOf(const Plan &plan);
/// The same of a plan that has no neutral degrees and axes.
std::string strategyKeyOfDistinct(const Plan &plan);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_STRATEGYKEY_H
