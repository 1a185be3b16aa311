//===- ExpertPlan.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/ExpertPlan.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;

PlacementOptions ExpertPlan::options() const {
  PlacementPolicy open =
      sources.empty() ? PlacementPolicy::block : PlacementPolicy::balanced;
  return {policy.value_or(open), groupsInNode, tolerance};
}

std::optional<Error> autopar::plan::checkExpertPlan(const ExpertPlan &plan) {
  PlacementPolicy policy = plan.options().policy;
  if (policy == PlacementPolicy::balanced && plan.sources.empty())
    return Error{"", "experts are balanced by their loads, which are not given",
                 "give --expert-load=FILE, --expert-load=zipf:1.0 or "
                 "--expert-trace=FILE"};
  bool isUneven = !plan.sources.empty() || plan.redundant > 0;
  if (plan.policy && !isUneven && !plan.groupsInNode)
    return Error{"",
                 "policy " + std::string(nameOf(policy)) +
                     " of --place-experts changes nothing: all experts have "
                     "equal loads",
                 "give --expert-load=FILE, --expert-load=zipf:1.0 or "
                 "--expert-trace=FILE"};
  if (plan.groupsInNode && policy != PlacementPolicy::balanced)
    return Error{"",
                 "policy " + std::string(nameOf(policy)) +
                     " does not keep groups of experts in nodes",
                 "give --place-experts=balanced and --expert-load"};
  return std::nullopt;
}
