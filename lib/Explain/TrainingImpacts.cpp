//===- TrainingImpacts.cpp - Figures by what they do to an iteration ------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Overlap and waiting in an iteration have no slopes in formulas. Iterations
// are therefore priced again with each figure slightly larger and slightly
// smaller, on the same stages.
//
//===----------------------------------------------------------------------===//

#include "ImpactTable.h"

#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

/// By which fraction a figure is changed to find a slope.
static constexpr double step = 1e-3;

namespace {

/// The time of an iteration in ps, and the bytes of its fullest device.
struct Outcome {
  double timePs = 0, totalBytes = 0;
};

/// The slopes of time and bytes with respect to one figure.
struct Slopes {
  Slope time, bytes;
};

class Differences {
public:
  Differences(const EvaluatedIteration &iteration,
              const Report::DeviceMemory &fullest)
      : iteration(iteration), parts(iteration.parts), fullest(fullest),
        at{double(iteration.times.allPs()), double(fullest.totalBytes)} {}

  template <typename Make>
  Slopes slopesOf(Make make) {
    Outcome more = make(1 + step), less = make(1 - step);
    return {slopeOf(less.timePs, at.timePs, more.timePs),
            slopeOf(less.totalBytes, at.totalBytes, more.totalBytes)};
  }
  Slopes ofFigure(uint32_t index, double value);
  Slopes ofLink(LinkFigure link);
  template <typename Owner>
  Slopes ofRuntime(Owner ownerIn, double value);

private:
  static Slope slopeOf(double less, double at, double more);
  Outcome price(const Machine &machine, const Runtime &runtime,
                StagePricer &pricer) const;

  const EvaluatedIteration &iteration;
  const PipelineParts &parts;
  const Report::DeviceMemory &fullest;
  /// The outcome for unchanged figures.
  const Outcome at;
};

} // namespace

/// Returns the slopes on both sides. They become one slope if they differ by
/// less than rounding errors do.
Slope Differences::slopeOf(double less, double at, double more) {
  Slope slope = {(at - less) / step, (more - at) / step};
  double mean = (slope.below + slope.above) / 2;
  double bend = std::fabs(slope.above - slope.below);
  constexpr double straight = 0.02;
  bool isStraight = bend <= straight * std::fabs(mean) + 1e-7 * at / step;
  return isStraight ? Slope{mean, mean} : slope;
}

/// Prices an iteration. If pricing is refused, the outcome counts as unchanged.
Outcome Differences::price(const Machine &machine, const Runtime &runtime,
                           StagePricer &pricer) const {
  PipelineSteps steps = iteration.steps;
  StagePricer::StageMemory memory;
  if (priceMessages(parts, *iteration.pipeline, machine, runtime, steps) ||
      pricer.price(parts.order, layoutOf(parts.inputs()), parts.workload,
                   parts.shape) ||
      pricer.priceStage(steps.ranges, iteration.fullest, memory))
    return at;
  PipelineSchedule schedule = scheduleOf(pricer, steps);
  IterationTimes times = iterationOf(pricer, steps, trainingEnds(schedule));
  TrainingMemory all = trainingMemoryOf(memory);
  all.savedBytes = fullest.savedBytes;
  all.settle(runtime);
  return {double(times.allPs()), double(all.totalBytes)};
}

Slopes Differences::ofFigure(uint32_t index, double value) {
  StagePricer pricer = parts.pricerOn(parts.machine, parts.runtime);
  return slopesOf([&](double factor) {
    pricer.setFigure(index, value * factor);
    return price(parts.machine, parts.runtime, pricer);
  });
}

Slopes Differences::ofLink(LinkFigure link) {
  const Tier &tier = parts.machine.pools.front().tiers[link.tier];
  return slopesOf([&](double factor) {
    Machine machine =
        withLinkFigure(parts.machine, link, (tier.*link.figure).value * factor);
    StagePricer pricer = parts.pricerOn(machine, parts.runtime);
    return price(machine, parts.runtime, pricer);
  });
}

/// Returns the slopes with respect to a figure of the runtime, which `ownerIn`
/// finds.
template <typename Owner>
Slopes Differences::ofRuntime(Owner ownerIn, double value) {
  return slopesOf([&](double factor) {
    Runtime runtime = parts.runtime;
    ownerIn(runtime).value = value * factor;
    StagePricer pricer = parts.pricerOn(parts.machine, runtime);
    return price(parts.machine, runtime, pricer);
  });
}

/// Figures that are not part of formulas of the graph.
static constexpr Figure Runtime::*hostFigures[] = {
    &Runtime::hostTimeUs, &Runtime::hostTimePerLayerUs,
    &Runtime::hostTimePerSequenceUs};
static constexpr Figure TrainingFigures::*trainingFigures[] = {
    &TrainingFigures::hiddenCommunication, &TrainingFigures::hiddenDispatch,
    &TrainingFigures::contention,          &TrainingFigures::allocatorOverhead,
    &TrainingFigures::stragglerShare,      &TrainingFigures::routingHostShare};

std::vector<Impact>
autopar::explanation::impactsOf(const EvaluatedIteration &iteration,
                                const Report::DeviceMemory &fullest) {
  const PipelineParts &parts = iteration.parts;
  PlanInputs inputs = parts.inputs();
  ImpactTable table(inputs, parts.strategy);
  Differences differences(iteration, fullest);
  std::vector<Slope> times, bytes;
  auto add = [&](const Slopes &slopes) {
    times.push_back(slopes.time);
    bytes.push_back(slopes.bytes);
  };
  auto isOfHost = [&](const Figure *figure) {
    return std::any_of(std::begin(hostFigures), std::end(hostFigures),
                       [&](Figure Runtime::*host) {
                         return figure == &(parts.runtime.*host);
                       });
  };
  const auto &figures = table.sensitivity.figures();
  for (uint32_t i = 0; i < figures.size(); ++i)
    add(table.has(i) && !isOfHost(figures[i].figure)
            ? differences.ofFigure(i, figures[i].value)
            : Slopes());
  for (const LinkFigure &link : table.sensitivity.linkFigures())
    add(differences.ofLink(link));
  table.addTime(times);
  table.addMemory(bytes);
  auto addOfRuntime = [&](auto ownerIn) {
    const Figure &figure = ownerIn(parts.runtime);
    if (figure.value == 0)
      return;
    Slopes slopes = differences.ofRuntime(ownerIn, figure.value);
    table.addFigure(figure, slopes.time, slopes.bytes);
  };
  for (Figure Runtime::*host : hostFigures)
    addOfRuntime([=](auto &runtime) -> auto & { return runtime.*host; });
  if (parts.runtime.training)
    for (Figure TrainingFigures::*own : trainingFigures)
      addOfRuntime(
          [=](auto &runtime) -> auto & { return (*runtime.training).*own; });
  return table.take();
}
