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

/// Orders the axes that `text` names, outermost first: in "tp,dp" dp runs over
/// the fastest links. A degree stands for all its axes; axes that are not named
/// stay outside, in their order.
std::optional<Error> mapAxes(Plan &plan, std::string_view text);

/// Lists the groups of axis or degree `name`, by their first device; each lists
/// its devices by rank. Errors: an unknown name, open sizes, more than
/// `limits::maxListedDevices` devices.
Result<std::vector<std::vector<int64_t>>> listGroups(const Plan &plan,
                                                     std::string_view name);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_DEVICEORDER_H
