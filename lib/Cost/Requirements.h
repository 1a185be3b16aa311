//===- Requirements.h - Whether a plan is legal -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_REQUIREMENTS_H
#define AUTOPAR_LIB_COST_REQUIREMENTS_H

#include "LayoutState.h"

#include "autopar/Support/Checked.h"

#include <cmath>

namespace autopar::cost {

/// Returns whether the integer `b` divides the integer `a`. Returns false above
/// 2^53, where doubles skip integers.
inline bool divides(double b, double a) {
  constexpr double exact = 9007199254740992; // 2^53
  return a <= exact && b <= exact &&
         static_cast<int64_t>(a) % static_cast<int64_t>(b) == 0;
}
inline bool divides(Checked b, Checked a) { return floorDiv(a, b) * b == a; }

/// Returns whether a requirement of `kind` holds. `index` is the link or figure
/// that it is about; `Number` may be any type of numbers.
template <typename Number>
bool holds(Requirement::Kind kind, Number extent, Number devices,
           uint32_t index, const LayoutState &layout,
           const std::vector<BoundFigure> &figures) {
  switch (kind) {
  case Requirement::Kind::sizes:
    return false;
  case Requirement::Kind::places:
    return divides(devices, extent) && layout.placesExperts();
  case Requirement::Kind::divides:
    return divides(devices, extent);
  case Requirement::Kind::caps:
    return devices > extent && extent > Number(0) ? divides(extent, devices)
                                                  : divides(devices, extent);
  case Requirement::Kind::joins:
    return extent == Number(0) || layout.isJoined(index);
  case Requirement::Kind::multiplies:
    return extent == Number(0) || std::isfinite(figures[index].value);
  }
  return false;
}

/// Returns whether the requirement holds whatever the extent and the number of
/// devices are.
inline bool holdsAlways(Requirement::Kind kind, uint32_t index,
                        const LayoutState &layout,
                        const std::vector<BoundFigure> &figures) {
  bool isOfMachine =
      kind == Requirement::Kind::joins || kind == Requirement::Kind::multiplies;
  return isOfMachine && holds(kind, 1.0, 1.0, index, layout, figures);
}

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_REQUIREMENTS_H
