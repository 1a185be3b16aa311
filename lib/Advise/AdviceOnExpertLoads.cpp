//===- AdviceOnExpertLoads.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Advice.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::report;

/// A warning is given if the load of the most loaded device is at least this
/// many times the mean.
static constexpr double worthSaying = 1.1;

static std::string ratioText(double ratio) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", ratio);
  return text;
}

/// Returns the flag that would balance the devices better; "" if there is none
/// left.
static std::string remedyText(const ExpertPlacement &placement) {
  if (placement.options.policy != PlacementPolicy::balanced)
    return "--place-experts=balanced balances the loads";
  if (placement.options.groupsInNode)
    return "without --expert-groups-in-node the loads can be balanced better";
  const PlacementSpace &space = placement.space;
  return "--redundant-experts=" +
         std::to_string(space.slots() - space.experts + space.ranks) +
         " makes room for more copies of the most loaded experts";
}

void autopar::advice::adviseOnExpertLoads(const EvaluatedStep &step,
                                          Warnings &warnings) {
  if (!step.report.placement)
    return;
  const ExpertPlacement &placement = *step.report.placement;
  double mean = placement.meanImbalance();
  if (mean < worthSaying)
    return;
  auto worst =
      std::max_element(placement.layers.begin(), placement.layers.end(),
                       [](const LayerPlacement &a, const LayerPlacement &b) {
                         return a.imbalance() < b.imbalance();
                       });
  warnings.push_back(
      {"experts: the most loaded of " +
           countOf(placement.space.ranks, "device") + " has " +
           ratioText(mean) +
           " times the mean load, and the others wait for it (layer " +
           std::to_string(worst->layer) + ": " + ratioText(worst->imbalance()) +
           " times); " + remedyText(placement),
       "uneven-experts", Warning::Subject::mesh});
}
