//===- SweepAxes.h - From flags to points -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_SWEEPAXES_H
#define AUTOPAR_SESSION_SWEEPAXES_H

#include "autopar/Pipelines/PlanFlags.h"
#include "autopar/Sweep/Sweep.h"

namespace autopar::session {

/// Whether the values say what a service is asked.
bool isOfRequests(const pipelines::PlanFlags &flags,
                  pipelines::PlanValues &values);

/// What is listed, in the order of `order`, the flags that were given; takes it
/// out of `values`, and fills the phase where that is open. Errors: what is no
/// list, nothing that is one, a figure that has two.
Result<std::vector<sweep::SweepAxis>>
takeAxes(const std::vector<std::string> &order, const std::string &devices,
         const pipelines::PlanFlags &flags, pipelines::PlanValues &values);

/// `values` with those of a point; devices are no flag of plans.
pipelines::PlanValues valuesAt(const std::vector<sweep::SweepAxis> &axes,
                               const sweep::SweepPoint &point,
                               const pipelines::PlanFlags &flags,
                               pipelines::PlanValues values);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SWEEPAXES_H
