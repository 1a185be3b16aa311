//===- DeviceOrder.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/DeviceOrder.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::plan;

using Names = std::vector<std::string>;

static Error refuseUnknown(const Plan &plan, std::string_view name) {
  Names known;
  for (const PlanAxis &axis : plan.axes)
    known.push_back(axis.name);
  for (const PlanDegree &degree : plan.degrees)
    known.push_back(degree.name);
  return {"", "the plan has no axis or degree '" + shorten(name) + "'",
          known.empty() ? "it has none" : "it has " + join(known, ", ")};
}

std::optional<Error> autopar::plan::mapAxes(Plan &plan, std::string_view text) {
  std::vector<PlanAxis> order;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string_view name = text.substr(begin, end - begin);
    if (!plan.has(name))
      return refuseUnknown(plan, name);
    for (const std::string &axis : plan.axesOf(name)) {
      if (std::any_of(order.begin(), order.end(), [&](const PlanAxis &other) {
            return other.name == axis;
          }))
        return Error{"", "axis '" + axis + "' is named twice",
                     "name every axis once, outermost first, as in 'tp,dp'"};
      order.push_back(*plan.axis(axis));
    }
    begin = end + 1;
  }
  auto place = plan.axes.begin();
  for (const PlanAxis &axis : plan.axes)
    if (std::none_of(order.begin(), order.end(), [&](const PlanAxis &other) {
          return other.name == axis.name;
        }))
      *place++ = axis;
  std::copy(order.begin(), order.end(), place);
  return std::nullopt;
}

/// Returns how far the devices of a group over `axes` are from the group's
/// first device, by their rank in the group.
static std::vector<int64_t> offsetsOf(const Plan &plan, const Names &axes) {
  std::vector<int64_t> offsets = {0};
  for (const std::string &name : axes) {
    int64_t stride = *plan.strideOf(name), size = *plan.axis(name)->size;
    std::vector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  return offsets;
}

Result<std::vector<std::vector<int64_t>>>
autopar::plan::listGroups(const Plan &plan, std::string_view name) {
  Names axes = plan.axesOf(name), rest;
  if (axes.empty() && !plan.has(name))
    return refuseUnknown(plan, name);
  for (const PlanAxis &axis : plan.axes) {
    if (!axis.size)
      return Error{"", "axis '" + axis.name + "' has no size",
                   "groups are listed for numbers only"};
    if (std::find(axes.begin(), axes.end(), axis.name) == axes.end())
      rest.push_back(axis.name);
  }
  std::optional<int64_t> devices = plan.devices();
  if (!devices || *devices > limits::maxListedDevices)
    return Error{"",
                 "groups are listed for at most " +
                     formatInteger(limits::maxListedDevices) +
                     " devices, the plan has " +
                     (devices ? formatInteger(*devices) : "more"),
                 "a report gives the stride and the size of every axis"};
  std::vector<std::vector<int64_t>> groups;
  for (int64_t first : offsetsOf(plan, rest)) {
    std::vector<int64_t> &group = groups.emplace_back(offsetsOf(plan, axes));
    for (int64_t &device : group)
      device += first;
  }
  return groups;
}
