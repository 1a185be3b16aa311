//===- NeutralAxes.h - The one spelling of a plan ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An axis of one device is neutral: plans with and without it are the same
// plan. Axes with open sizes stay, because they may turn out larger. A degree
// of 1 that makes a difference stays with its axes: ep = 1 on several devices
// (each has all experts, whole), attention_tp = 1 beside tp > 1.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_NEUTRALAXES_H
#define AUTOPAR_PLAN_NEUTRALAXES_H

#include "autopar/Plan/Degrees.h"

namespace autopar::plan {

/// Returns the mesh of `planMesh`, without the degrees that change nothing: dcp
/// = 1, a product of no axes, attention_tp = tp, and fsdp = 1 or dp*cp.
Result<MeshPlan> planCanonicalMesh(const Degrees &degrees);

/// Removes from `plan` the degrees that change nothing (as in
/// `planCanonicalMesh`), and degrees of experts on a single device.
void dropNeutralDegrees(Plan &plan);

/// Removes from `plan` the axes with one device that are parts of tp, cp and
/// dp, and the choices that then have no effect: sequence parallelism, the kind
/// of context parallelism, fsdp. Returns the names of the removed axes.
std::vector<std::string> dropNeutralAxes(Plan &plan);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_NEUTRALAXES_H
