//===- PlanPipeline.h - The pipeline of a plan ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLAN_PLANPIPELINE_H
#define AUTOPAR_LIB_PLAN_PLANPIPELINE_H

#include "autopar/Plan/Plan.h"

namespace autopar::plan {

/// Refuses a pipeline without the degree pp, and ranges of layers and schedules
/// that do not fit the pipeline.
std::optional<Error> checkPipeline(const Plan &plan, bool trains);

} // namespace autopar::plan

#endif // AUTOPAR_LIB_PLAN_PLANPIPELINE_H
