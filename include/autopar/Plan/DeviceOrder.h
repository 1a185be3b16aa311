//===- DeviceOrder.h - The order of devices in a mesh -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices are numbered in the order of a plan's axes, the last one fastest. A
// group is the set of devices that differ along some axes only. It is stored as
// a stride and a size per axis, and listed only on request.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_DEVICEORDER_H
#define AUTOPAR_PLAN_DEVICEORDER_H

#include "autopar/Plan/Plan.h"

namespace autopar::plan {

/// Sorts the axes of `plan` as `text` lists them, outermost first: in "tp,dp"
/// dp runs over the fastest links. A degree stands for all its axes. Axes that
/// `text` does not name stay outside, in their order. Returns an error for an
/// unknown name.
std::optional<Error> mapAxes(Plan &plan, std::string_view text);

/// Returns the groups of the axis or degree `name`, sorted by their first
/// device; each lists its devices by rank. Errors: an unknown name, sizes that
/// are open, more than `limits::maxListedDevices` devices.
Result<std::vector<std::vector<int64_t>>> listGroups(const Plan &plan,
                                                     std::string_view name);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_DEVICEORDER_H
