//===- Breakdown.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

namespace {

/// Rows by name, in order of first use.
class Breakdown {
public:
  void add(const std::string &name, Checked count, double timeUs, Checked flops,
           Checked bytes) {
    auto [it, isNew] = index.emplace(name, rows.size());
    if (isNew)
      rows.push_back({name, 0, 0, 0, 0});
    Row &row = rows[it->second];
    row.count += count;
    row.timeUs += timeUs;
    row.flops += flops;
    row.bytes += bytes;
  }
  std::vector<BreakdownRow> take(Reading &reading) const {
    std::vector<BreakdownRow> result;
    for (const Row &row : rows)
      result.push_back({row.name, reading.narrow(row.count, "launches"),
                        row.timeUs, row.flops, row.bytes});
    return result;
  }

private:
  struct Row {
    std::string name;
    Checked count;
    double timeUs;
    Checked flops, bytes;
  };
  std::vector<Row> rows;
  std::map<std::string, size_t> index;
};

/// The step by op and by layer kind.
class StepBreakdown {
public:
  explicit StepBreakdown(Reading &reading) : reading(reading) {}
  void run();

private:
  void addLayers();
  void addLaunch(const LaunchNodes &launch);
  void add(const std::string &op, uint32_t layer, Checked count, double timeUs,
           Checked flops, Checked bytes) {
    byOp.add(op, count, timeUs, flops, bytes);
    byLayer.add(reading.program.layers[layer].name, 0, timeUs, flops, bytes);
  }

  Reading &reading;
  Breakdown byOp, byLayer;
};

} // namespace

/// What follows the layers is counted with what lies before them.
void StepBreakdown::addLayers() {
  const CostProgram &program = reading.program;
  auto countOf = [&](uint32_t layer) {
    const KindCounts &kinds = reading.layout.part.kinds;
    return kinds.empty() ? Checked(program.layers[layer].count)
                         : Checked(kinds[layer]) * reading.passesOf(layer);
  };
  for (uint32_t i = 0; i < program.layers.size(); ++i) {
    bool counted = i > 0 && program.isModel(i) && countOf(0) > 0;
    if (countOf(i) > 0)
      byLayer.add(program.layers[i].name, counted ? Checked(0) : countOf(i), 0,
                  0, 0);
  }
}

std::vector<LaunchShare> autopar::report::sharesOf(const Reading &reading,
                                                   const LaunchNodes &launch) {
  std::vector<LaunchShare> shares;
  Checked count = reading.countOf(launch);
  if (count.isZero())
    return shares;
  double roofs = 0;
  for (const LaunchNodes::Member &member : launch.members) {
    double own = reading.real(member.roofUs);
    roofs += own;
    const KernelNodes &kernel = reading.strategy.kernels[member.kernel];
    if (!reading.whole(kernel.launched).isZero())
      shares.push_back({member.kernel, count,
                        reading.whole(kernel.localFlops) * count,
                        reading.whole(member.movedBytes) * count, own, 0});
  }
  double roofUs = reading.microseconds(launch.roofPs);
  double floorUs = reading.microseconds(launch.floorPs);
  for (LaunchShare &share : shares) {
    share.roofUs = roofs > 0 ? roofUs * share.roofUs / roofs : 0;
    share.floorUs = floorUs / static_cast<double>(shares.size());
  }
  return shares;
}

void StepBreakdown::addLaunch(const LaunchNodes &launch) {
  for (const LaunchShare &share : sharesOf(reading, launch)) {
    const Kernel &kernel = reading.program.kernels[share.kernel];
    double timeUs = share.roofUs + share.floorUs;
    reading.kernelTimeUs[share.kernel] = timeUs;
    add(kernel.op, kernel.layer, share.count, timeUs * share.count.real(),
        share.flops, share.bytes);
  }
}

void StepBreakdown::run() {
  reading.kernelTimeUs.assign(reading.program.kernels.size(), 0);
  addLayers();
  for (const LaunchNodes &launch : reading.strategy.launches)
    addLaunch(launch);
  for (const CollectiveReading &cost : reading.collectives) {
    Checked count = cost.count;
    add(std::string(nameOf(cost.record->kind)), cost.record->layer, count,
        cost.timeUs * count.real(), 0,
        reading.whole(cost.nodes->wireBytes) * count);
  }
  const TotalNodes &total = reading.strategy.total;
  double hostUs =
      reading.microseconds(total.hostPs) + reading.microseconds(total.layersPs);
  if (hostUs > 0) {
    byOp.add("host", reading.layout.microbatches, hostUs, 0, 0);
    byLayer.add("host", reading.layout.microbatches, hostUs, 0, 0);
  }
  reading.report.byOp = byOp.take(reading);
  reading.report.byLayer = byLayer.take(reading);
}

void autopar::report::readBreakdown(Reading &reading) {
  StepBreakdown(reading).run();
}
