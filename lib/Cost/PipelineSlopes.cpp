//===- PipelineSlopes.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/PipelineSlopes.h"

#include "Numbers.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::schedule;

/// Units of growth per ps. Growths are integers in these units, as the times of
/// schedules are integers in ps.
static constexpr double growthsPerPs = 256;

namespace {

using Slopes = std::vector<Slope>;

/// Finds the slopes of all terms of a pipeline schedule. The slope of the step
/// time is found for one figure after the other, from a schedule whose times
/// grow with the figure.
class StepSlopes {
public:
  StepSlopes(const PricedPipeline &pipeline, Sensitivity &sensitivity)
      : pipeline(pipeline), sensitivity(sensitivity),
        schedule(scheduleOf(pipeline.layers, pipeline.steps)) {}

  Slopes run();

private:
  struct StepOfPart {
    Slopes compute, communication;
  };
  /// The slopes of a part, by kind of step.
  using Part = std::vector<StepOfPart>;

  PartCounts countsOf(size_t begin, size_t end) const;
  Part slopesOf(const PartCounts &counts);
  void addParts();
  void addHosts();
  void addTransfers();
  Picoseconds growth(const Slopes &slopes) const;
  PipelinePart grow(const Part &part) const;
  PricedLayers growLayers() const;
  double slopeOn(int wanted);

  const PricedPipeline &pipeline;
  Sensitivity &sensitivity;
  PipelineSchedule schedule;
  std::vector<Part> parts;
  Part before, after, ends;
  std::vector<Slopes> hosts, transfers;
  /// The figure that currently changes (`figure`), and its direction (`side`):
  /// 1 if it grows, -1 if it falls.
  size_t figure = 0;
  int side = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Slopes of the terms of a schedule
//===----------------------------------------------------------------------===//

PartCounts StepSlopes::countsOf(size_t begin, size_t end) const {
  PartCounts counts(pipeline.program);
  addPlaces(pipeline.program, pipeline.order, begin, end,
            pipeline.runtime.fusesElementwise, counts);
  return counts;
}

StepSlopes::Part StepSlopes::slopesOf(const PartCounts &counts) {
  const TotalNodes &total = pipeline.strategy.total;
  Layout layout = pipeline.layout;
  layout.part = counts;
  layout.passes = 1;
  layout.microbatches = pipeline.steps.shape.passes();
  Part part;
  for (const PrefillChunk &kind : pipeline.steps.kinds) {
    sensitivity.lay(layout, pointOf(kind.step));
    part.push_back(
        {sensitivity.slopes({total.computePs, total.memoryPs, total.floorPs}),
         sensitivity.slopes(total.communicationPs)});
  }
  return part;
}

void StepSlopes::addParts() {
  const std::vector<uint32_t> &partOf = pipeline.layers.partOf;
  for (uint32_t part = 0; part < pipeline.layers.parts.size(); ++part) {
    size_t place =
        std::find(partOf.begin(), partOf.end(), part) - partOf.begin() + 1;
    parts.push_back(slopesOf(countsOf(place, place + 1)));
  }
  size_t end = pipeline.order.size() + 1;
  PartCounts first = countsOf(0, 1);
  before = slopesOf(first);
  after = slopesOf(countsOf(end, end + 1));
  addPlaces(pipeline.program, pipeline.order, end, end + 1,
            pipeline.runtime.fusesElementwise, first);
  ends = slopesOf(first);
}

void StepSlopes::addHosts() {
  for (const PrefillChunk &kind : pipeline.steps.kinds) {
    Layout layout = pipeline.layout;
    layout.part = PartCounts(pipeline.program);
    layout.passes = layout.microbatches = 1;
    sensitivity.lay(layout, pointOf(kind.step));
    hosts.push_back(sensitivity.slopes(pipeline.strategy.total.hostPs));
  }
}

void StepSlopes::addTransfers() {
  const PipelineSteps &steps = pipeline.steps;
  int64_t stages = static_cast<int64_t>(steps.ranges.size());
  for (size_t i = 0; i < pipeline.transferBytes.size(); ++i) {
    auto stage = static_cast<int64_t>(i / steps.kinds.size());
    auto time = [&](const Machine &machine) {
      Network network(machine.pools.front(), pipeline.layout.devices);
      Route route = transferRoute(network, pipeline.devices, stage, stages,
                                  pipeline.runtime.ideal);
      return timeOf(route, pipeline.transferBytes[i]) * picosecondsPerUs;
    };
    Slopes &slopes = transfers.emplace_back(sensitivity.figures().size());
    for (double slope : sensitivity.linkSlopes(time))
      slopes.push_back({slope, slope});
  }
}

//===----------------------------------------------------------------------===//
// Growth of the step time with one figure
//===----------------------------------------------------------------------===//

Picoseconds StepSlopes::growth(const Slopes &slopes) const {
  double slope = side > 0 ? slopes[figure].above : -slopes[figure].below;
  return std::isfinite(slope) ? std::llround(slope * growthsPerPs) : 0;
}

PipelinePart StepSlopes::grow(const Part &part) const {
  PipelinePart grown;
  for (const StepOfPart &step : part) {
    Picoseconds communication = growth(step.communication);
    grown.steps.push_back(
        {growth(step.compute) + communication, communication});
  }
  return grown;
}

PricedLayers StepSlopes::growLayers() const {
  PricedLayers layers;
  layers.partOf = pipeline.layers.partOf;
  for (const Part &part : parts)
    layers.parts.push_back(grow(part));
  layers.before = grow(before);
  layers.after = grow(after);
  layers.ends = grow(ends);
  if (pipeline.steps.shape.hasOneStage())
    layers.gatherOnce();
  return layers;
}

static bool grows(const StageWork &work) {
  return work.forwardPs != 0 || work.backwardPs() != 0 || work.transferPs != 0;
}

double StepSlopes::slopeOn(int wanted) {
  side = wanted;
  PipelineSteps steps = pipeline.steps;
  for (size_t kind = 0; kind < hosts.size(); ++kind)
    steps.hostPs[kind] = growth(hosts[kind]);
  for (size_t i = 0; i < transfers.size(); ++i)
    steps.transferPs[i] = growth(transfers[i]);
  std::vector<StageWork> works = scheduleOf(growLayers(), steps).work;
  // A shortcut: most figures concern memory and change no time.
  if (std::none_of(works.begin(), works.end(), grows))
    return 0;
  Growth grown = growthOf(schedule, works);
  auto slope = static_cast<double>(stepGrowthOf(schedule, grown));
  return side * slope / growthsPerPs;
}

Slopes StepSlopes::run() {
  addParts();
  addHosts();
  addTransfers();
  Slopes slopes;
  for (figure = 0; figure < hosts.front().size(); ++figure)
    slopes.push_back({slopeOn(-1), slopeOn(1)});
  return slopes;
}

std::vector<Slope> autopar::cost::slopesOfStep(const PricedPipeline &pipeline,
                                               Sensitivity &sensitivity) {
  return StepSlopes(pipeline, sensitivity).run();
}
