//===- DeviceOrder.h - Where the devices of an axis lie ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices are numbered as the axes of a plan run, the last one fastest. A group
// is the devices that differ along some axes only: a stride and a size for
// each, never a list, unless one asks for it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_DEVICEORDER_H
#define AUTOPAR_PLAN_DEVICEORDER_H

#include "autopar/Plan/Plan.h"

namespace autopar::plan {

/// Orders the axes that `text` names, outermost first, as in "tp,dp": dp then
/// runs over the fastest links. A degree stands for all its axes; axes that
/// are not named stay outside, in their order.
std::optional<Error> mapAxes(Plan &plan, std::string_view text);

/// The groups of axis or degree `name`, by their first device; each lists its
/// devices by rank. Errors: an unknown name, open sizes, over
/// `limits::maxListedDevices` devices.
Result<std::vector<std::vector<int64_t>>> listGroups(const Plan &plan,
                                                     std::string_view name);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_DEVICEORDER_H
