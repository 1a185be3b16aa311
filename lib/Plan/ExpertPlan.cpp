//===- ExpertPlan.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/ExpertPlan.h"

#include "ExpertPlanJson.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;

PlacementOptions ExpertPlan::options() const {
  PlacementPolicy open =
      sources.empty() ? PlacementPolicy::block : PlacementPolicy::balanced;
  return {policy.value_or(open), groupsInNode, tolerance};
}

std::optional<Error> autopar::checkExpertPlan(const ExpertPlan &plan) {
  PlacementPolicy policy = plan.options().policy;
  if (policy == PlacementPolicy::balanced && plan.sources.empty())
    return Error{"", "experts are balanced by their loads, which are not given",
                 "give --expert-load=FILE, --expert-load=zipf:1.0 or "
                 "--expert-trace=FILE"};
  if (plan.groupsInNode && policy != PlacementPolicy::balanced)
    return Error{"",
                 "policy " + std::string(nameOf(policy)) +
                     " does not keep groups of experts in nodes",
                 "give --place-experts=balanced and --expert-load"};
  return std::nullopt;
}

ExpertPlan autopar::readExpertPlan(const JsonReader &entry) {
  entry.allowOnly({"policy", "redundant_experts", "groups_in_node", "tolerance",
                   "load", "trace"});
  ExpertPlan plan;
  if (std::optional<std::string> policy = entry.optionalString("policy")) {
    plan.policy = parsePlacementPolicy(*policy);
    if (!plan.policy)
      entry.failAt("policy", "expected block, round_robin or balanced, found "
                             "\"" +
                                 shorten(*policy) + "\"");
  }
  plan.redundant =
      entry.optionalInteger("redundant_experts", 0, limits::maxPlacedSlots)
          .value_or(plan.redundant);
  plan.groupsInNode = entry.booleanOr("groups_in_node", false);
  plan.tolerance =
      entry.optionalNumber("tolerance", 0, 1).value_or(plan.tolerance);
  plan.sources.load = entry.optionalString("load").value_or("");
  plan.sources.trace = entry.optionalString("trace").value_or("");
  return plan;
}

nlohmann::ordered_json autopar::writeExpertPlan(const ExpertPlan &plan) {
  nlohmann::ordered_json written = nlohmann::ordered_json::object();
  if (plan.policy)
    written["policy"] = nameOf(*plan.policy);
  if (plan.redundant)
    written["redundant_experts"] = plan.redundant;
  if (plan.groupsInNode)
    written["groups_in_node"] = true;
  if (plan.tolerance != PlacementOptions().tolerance)
    written["tolerance"] = plan.tolerance;
  if (!plan.sources.load.empty())
    written["load"] = plan.sources.load;
  if (!plan.sources.trace.empty())
    written["trace"] = plan.sources.trace;
  return written;
}
