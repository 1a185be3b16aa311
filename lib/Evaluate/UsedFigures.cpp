//===- UsedFigures.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/UsedFigures.h"

#include "autopar/Cost/TrainingTimes.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;

template <typename Entry>
static void addOnce(std::vector<Entry> &entries, const Entry &entry) {
  if (std::find(entries.begin(), entries.end(), entry) == entries.end())
    entries.push_back(entry);
}

/// Adds bound figures: those of the runtime and of the memory if `ofMemory`,
/// else all other figures.
static void addFigures(const EvaluatedStep &step, bool ofMemory,
                       UsedFigures &used) {
  using Kind = FigureUse::Kind;
  const auto &bound = step.values.figures();
  for (size_t i = 0; i < bound.size(); ++i) {
    Kind kind = step.strategy.figures[i].kind;
    bool isOfStep =
        kind == Kind::memory_bandwidth || kind == Kind::peak ||
        kind == Kind::sustained_compute || kind == Kind::kernel_floor ||
        kind == Kind::host_time || kind == Kind::host_time_per_layer ||
        kind == Kind::host_time_per_sequence ||
        kind == Kind::overlaps_shared_experts || kind == Kind::routing_skew;
    bool isOfCommunication = kind == Kind::communication_bytes ||
                             kind == Kind::communication_bytes_per_peer;
    bool isUsed = !isOfCommunication || step.communicates();
    if (isOfStep != ofMemory && isUsed && bound[i].figure)
      addOnce(used.figures, bound[i].figure);
  }
}

static void addTiers(const EvaluatedStep &step, UsedFigures &used) {
  for (const CollectiveCall &cost : step.calls) {
    addOnce(used.figures, &cost.route->tier->bandwidth);
    // A measured curve replaces latency and efficiency, except where the user
    // set them.
    for (const Figure *figure :
         {&cost.route->tier->latency, &cost.route->tier->efficiency})
      if (!step.runtime.ideal &&
          (cost.route->modelled || figure->source.replaced))
        addOnce(used.figures, figure);
  }
}

/// Adds the curve of `launch` in the longest step, and notes if the launch is
/// larger than those to which the curve was fitted.
static void addCurve(const EvaluatedStep &longest, const LaunchNodes &launch,
                     UsedFigures &used) {
  const Kernel &first = longest.program.kernels[launch.members.front().kernel];
  const KernelCurve *curve = longest.curveOf(first);
  KernelKind kind = longest.curveKindOf(first);
  if (!curve)
    return addOnce(used.kindsWithoutCurve, kind);
  addOnce(used.curves, std::make_pair(kind, curve));
  if (curve->fittedBytes == 0)
    return;
  Checked flops, bytes;
  for (const LaunchNodes::Member &member : launch.members) {
    flops += longest.whole(longest.strategy.kernels[member.kernel].localFlops);
    bytes += longest.whole(member.movedBytes);
  }
  double excess = std::max(flops.real() / curve->fittedFlops,
                           bytes.real() / curve->fittedBytes);
  if (excess > 1)
    used.beyondFit.push_back(first.name + " (" +
                             formatNumber(std::ceil(excess * 10) / 10) + "x)");
}

static void addTraining(const EvaluatedStep &step, UsedFigures &used) {
  if (!step.strategy.trains || !step.runtime.training)
    return;
  const TrainingFigures &figures = *step.runtime.training;
  for (const Figure *figure :
       {&figures.overlapsReductions, &figures.overlapsGathers,
        &figures.overlapsInputs, &figures.fusesAccumulation,
        &figures.loopsExperts, &figures.hiddenCommunication,
        &figures.hiddenDispatch, &figures.contention,
        &figures.allocatorOverhead, &figures.keepsOutputs,
        &figures.reductionBucket, &figures.copiesGradients,
        &figures.castsGatheredWeights, &figures.keepsWholeInStages,
        &figures.stragglerShare})
    addOnce(used.figures, figure);
  if (routesTokens(step.program))
    for (const Figure *figure :
         {&figures.routingHostShare, &figures.splitsExpertsByTp})
      addOnce(used.figures, figure);
}

UsedFigures autopar::evaluation::figuresOf(const EvaluatedStep &step) {
  UsedFigures used;
  addFigures(step, /*ofMemory=*/true, used);
  addTiers(step, used);
  addFigures(step, /*ofMemory=*/false, used);
  addTraining(step, used);
  if (step.runtime.ideal)
    return used;
  const EvaluatedStep &longest = step.longestStep();
  for (const LaunchNodes &launch : step.strategy.launches)
    if (!longest.whole(launch.launched).isZero() &&
        !longest.whole(launch.count).isZero())
      addCurve(longest, launch, used);
  return used;
}
