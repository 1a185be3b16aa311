//===- ExpertPlan.h - How experts are placed on devices ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_EXPERTPLAN_H
#define AUTOPAR_PLAN_EXPERTPLAN_H

#include "autopar/Placement/LoadSource.h"
#include "autopar/Placement/Placement.h"

namespace autopar::plan {

/// Which experts the devices of ep hold, as far as a plan says.
struct ExpertPlan {
  /// Absent: `balanced` where there are loads to follow, else `block`.
  std::optional<placement::PlacementPolicy> policy;
  /// Slots of all devices, beyond one for each expert.
  int64_t redundant = 0;
  bool groupsInNode = false;
  double tolerance = placement::PlacementOptions().tolerance;
  placement::LoadSources sources;

  placement::PlacementOptions options() const;
};

/// Refuses choices that contradict each other: `balanced` without loads.
std::optional<Error> checkExpertPlan(const ExpertPlan &plan);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_EXPERTPLAN_H
