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

/// Whether the values of flags describe the requests of a service.
bool isOfRequests(const pipelines::PlanFlags &flags,
                  pipelines::PlanValues &values);

/// Takes the flags that have lists out of `values`, in the order of `order`,
/// and returns them as axes; sets the phase if it is open. Errors: invalid
/// lists, no list at all, a figure with two lists.
Result<std::vector<sweep::SweepAxis>>
takeAxes(const std::vector<std::string> &order, const std::string &devices,
         const pipelines::PlanFlags &flags, pipelines::PlanValues &values);

/// Returns `values` with the values of a sweep's point. The number of devices
/// is not a flag of plans.
pipelines::PlanValues valuesAt(const std::vector<sweep::SweepAxis> &axes,
                               const sweep::SweepPoint &point,
                               const pipelines::PlanFlags &flags,
                               pipelines::PlanValues values);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SWEEPAXES_H
