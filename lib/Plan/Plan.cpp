//===- Plan.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Plan.h"

#include "autopar/Support/Checked.h"

#include <algorithm>

using namespace autopar;

const PlanAxis *Plan::axis(std::string_view name) const {
  auto it = std::find_if(axes.begin(), axes.end(), [&](const PlanAxis &axis) {
    return axis.name == name;
  });
  return it == axes.end() ? nullptr : &*it;
}

PlanAxis *Plan::axis(std::string_view name) {
  return const_cast<PlanAxis *>(std::as_const(*this).axis(name));
}

void Plan::setAxis(std::string name, std::optional<int64_t> size) {
  if (PlanAxis *known = axis(name))
    known->size = size;
  else
    axes.push_back({std::move(name), size});
}

std::optional<int64_t> Plan::devices() const {
  Checked product = 1;
  for (const PlanAxis &axis : axes) {
    if (!axis.size)
      return std::nullopt;
    product *= *axis.size;
  }
  return product.int64();
}
