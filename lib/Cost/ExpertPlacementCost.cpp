//===- ExpertPlacementCost.cpp - Experts on the devices of a plan ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "autopar/Cost/ExpertNodes.h"
#include "autopar/Support/Limits.h"

#include <cmath>
#include <map>

using namespace autopar;

std::optional<int64_t> autopar::nodesOf(const GroupLayout &layout,
                                        int64_t devicesPerNode) {
  GroupLayout axes;
  for (const GroupAxis &axis : layout)
    if (axis.size > 1)
      axes.push_back(axis);
  if (axes.empty())
    return 1;
  int64_t stride = axes.back().stride, ranks = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].stride != stride * ranks)
      return std::nullopt;
    ranks *= axes[i].size;
  }
  int64_t span = (Checked(stride) * ranks).int64().value_or(limits::maxDevices);
  if (span <= devicesPerNode)
    return devicesPerNode % span == 0 ? std::optional<int64_t>(1)
                                      : std::nullopt;
  if (stride >= devicesPerNode)
    return stride % devicesPerNode == 0 ? std::optional<int64_t>(ranks)
                                        : std::nullopt;
  if (devicesPerNode % stride || ranks % (devicesPerNode / stride))
    return std::nullopt;
  return ranks / (devicesPerNode / stride);
}

void autopar::addPlacement(Evaluation &evaluation) {
  if (!evaluation.program.placement)
    return;
  const PlacedExperts &placed = *evaluation.program.placement;
  ExpertPlacement placement;
  placement.options = placed.options;
  PlacementSpace &space = placement.space;
  space.experts = placed.experts;
  space.groups = placed.groups;
  space.ranks = evaluation.sizes.groupSize(placed.axes).int64().value_or(1);
  space.slotsPerRank = placed.slots / space.ranks;
  space.nodes =
      nodesOf(evaluation.layoutOf(placed.axes), evaluation.pool.devicesPerNode)
          .value_or(1);
  for (const PlacedExperts::Layer &layer : placed.layers) {
    LayerPlacement &result = placement.layers.emplace_back(
        evaluatePlacement(layer.slots, layer.loads, space));
    result.traffic = layer.traffic;
    result.blockTraffic = layer.blockTraffic;
  }
  evaluation.report.placement = std::move(placement);
}

/// Whether layers of one kind wait for devices of different heat, by more than
/// shows in a time.
static bool layersDiffer(const Evaluation &evaluation) {
  constexpr double visible = 1e-3;
  const std::vector<LayerPlacement> &layers =
      evaluation.report.placement->layers;
  std::map<uint32_t, double> firsts;
  for (size_t i = 0; i < layers.size(); ++i) {
    double imbalance = layers[i].imbalance();
    auto first =
        firsts.emplace(evaluation.program.placement->layers[i].kind, imbalance);
    if (std::fabs(first.first->second - imbalance) > visible)
      return true;
  }
  return false;
}

void autopar::addLoadAssumptions(const Evaluation &evaluation,
                                 std::vector<Assumption> &assumptions) {
  if (!evaluation.report.placement)
    return;
  assumptions.push_back(
      {"expert loads", evaluation.program.placement->source,
       "user: of them follows the hottest device, not which experts a batch "
       "reaches"});
  if (evaluation.plan.pipeline.stages.size() > 1 && layersDiffer(evaluation))
    assumptions.push_back({"expert loads of stages",
                           "the mean over the layers of a kind, whichever of "
                           "them a stage has",
                           "autopar: method of the evaluator"});
}
