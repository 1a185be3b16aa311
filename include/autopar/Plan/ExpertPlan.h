//===- ExpertPlan.h - Placement of experts in a plan ------------*- C++ -*-===//
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

/// How experts are placed on the devices of ep, as far as a plan sets it.
struct ExpertPlan {
  /// The placement policy; absent: `balanced` if there are loads, else `block`.
  std::optional<placement::PlacementPolicy> policy;
  /// Number of slots, on all devices together, beyond one for each expert.
  int64_t redundant = 0;
  bool groupsInNode = false;
  double tolerance = placement::PlacementOptions().tolerance;
  placement::LoadSources sources;

  placement::PlacementOptions options() const;
};

/// Returns an error for choices that contradict each other, such as `balanced`
/// without loads.
std::optional<Error> checkExpertPlan(const ExpertPlan &plan);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_EXPERTPLAN_H
