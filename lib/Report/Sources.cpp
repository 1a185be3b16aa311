//===- Sources.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Cost/TrainingTimes.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;

template <typename Entry>
static void addOnce(std::vector<Entry> &entries, const Entry &entry) {
  if (std::find(entries.begin(), entries.end(), entry) == entries.end())
    entries.push_back(entry);
}

/// Figures of what is bound: those of the runtime and the memory, or the rest.
static void addFigures(Reading &reading, bool ofMemory) {
  using Kind = FigureUse::Kind;
  const auto &bound = reading.values.figures();
  for (size_t i = 0; i < bound.size(); ++i) {
    Kind kind = reading.strategy.figures[i].kind;
    bool isOfStep =
        kind == Kind::memory_bandwidth || kind == Kind::peak ||
        kind == Kind::sustained_compute || kind == Kind::kernel_floor ||
        kind == Kind::host_time || kind == Kind::host_time_per_layer ||
        kind == Kind::host_time_per_sequence || kind == Kind::routing_skew;
    bool isOfCommunication = kind == Kind::communication_bytes ||
                             kind == Kind::communication_bytes_per_peer;
    bool isUsed = !isOfCommunication || reading.communicates();
    if (isOfStep != ofMemory && isUsed && bound[i].figure)
      addOnce(reading.figures, bound[i].figure);
  }
}

static void addTiers(Reading &reading) {
  for (const CollectiveReading &cost : reading.collectives) {
    addOnce(reading.figures, &cost.route->tier->bandwidth);
    // A measured curve rests on its own figures, but for those that the user
    // set.
    for (const Figure *figure :
         {&cost.route->tier->latency, &cost.route->tier->efficiency})
      if (!reading.runtime.ideal &&
          (cost.route->modelled || figure->source.replaced))
        addOnce(reading.figures, figure);
  }
}

/// The curve of a launch; whether the launch is larger than what it was fitted
/// to.
/// Of `launch` in the longest step.
static void addCurve(Reading &reading, const Reading &longest,
                     const LaunchNodes &launch) {
  const Kernel &first = reading.program.kernels[launch.members.front().kernel];
  const KernelCurve *curve = reading.curveOf(first);
  KernelKind kind = reading.curveKindOf(first);
  if (!curve)
    return addOnce(reading.kindsWithoutCurve, kind);
  addOnce(reading.curves, std::make_pair(kind, curve));
  if (curve->fittedBytes == 0)
    return;
  Checked flops, bytes;
  for (const LaunchNodes::Member &member : launch.members) {
    flops += longest.whole(reading.strategy.kernels[member.kernel].localFlops);
    bytes += longest.whole(member.movedBytes);
  }
  double excess = std::max(flops.real() / curve->fittedFlops,
                           bytes.real() / curve->fittedBytes);
  if (excess > 1)
    reading.beyondFit.push_back(
        first.name + " (" + formatNumber(std::ceil(excess * 10) / 10) + "x)");
}

static void addTraining(Reading &reading) {
  if (!reading.strategy.trains || !reading.runtime.training)
    return;
  const TrainingFigures &figures = *reading.runtime.training;
  for (const Figure *figure :
       {&figures.overlapsReductions, &figures.overlapsGathers,
        &figures.overlapsInputs, &figures.fusesAccumulation,
        &figures.loopsExperts, &figures.hiddenCommunication,
        &figures.hiddenDispatch, &figures.contention,
        &figures.allocatorOverhead, &figures.keepsOutputs,
        &figures.reductionBucket, &figures.copiesGradients,
        &figures.castsGatheredWeights, &figures.keepsWholeInStages,
        &figures.stragglerShare})
    addOnce(reading.figures, figure);
  if (routesTokens(reading.program))
    for (const Figure *figure :
         {&figures.routingHostShare, &figures.splitsExpertsByTp})
      addOnce(reading.figures, figure);
}

void autopar::report::readSources(Reading &reading) {
  addFigures(reading, /*ofMemory=*/true);
  addTiers(reading);
  addFigures(reading, /*ofMemory=*/false);
  addTraining(reading);
  if (reading.runtime.ideal)
    return;
  const Reading &longest = reading.longestStep();
  for (const LaunchNodes &launch : reading.strategy.launches)
    if (!longest.whole(launch.launched).isZero() &&
        !longest.whole(launch.count).isZero())
      addCurve(reading, longest, launch);
}
