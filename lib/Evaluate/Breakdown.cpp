//===- Breakdown.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedStep.h"

#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

namespace {

/// The rows of a breakdown by name, in the order of their first use.
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
  std::vector<BreakdownRow> take(Narrowing &narrow) const {
    std::vector<BreakdownRow> result;
    for (const Row &row : rows)
      result.push_back({row.name, narrow(row.count, "launches"), row.timeUs,
                        row.flops, row.bytes});
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

/// Divides the step by op and by layer kind.
class BreakdownMaker {
public:
  BreakdownMaker(const PricedStep &step,
                 const std::vector<CollectiveCall> &calls)
      : step(step), calls(calls) {}
  Result<StepBreakdown> run();

private:
  void addLayers();
  void addLaunch(const LaunchNodes &launch);
  void add(const std::string &op, uint32_t layer, Checked count, double timeUs,
           Checked flops, Checked bytes) {
    byOp.add(op, count, timeUs, flops, bytes);
    byLayer.add(step.program.layers[layer].name, 0, timeUs, flops, bytes);
  }

  const PricedStep &step;
  const std::vector<CollectiveCall> &calls;
  StepBreakdown result;
  Breakdown byOp, byLayer;
};

} // namespace

/// Adds a row for each layer kind. Operations after the layers are counted
/// together with those before them.
void BreakdownMaker::addLayers() {
  const CostProgram &program = step.program;
  auto countOf = [&](uint32_t layer) {
    const KindCounts &kinds = step.layout.part.kinds;
    return kinds.empty() ? Checked(program.layers[layer].count)
                         : Checked(kinds[layer]) * step.passesOf(layer);
  };
  for (uint32_t i = 0; i < program.layers.size(); ++i) {
    bool counted = i > 0 && program.isModel(i) && countOf(0) > 0;
    if (countOf(i) > 0)
      byLayer.add(program.layers[i].name, counted ? Checked(0) : countOf(i), 0,
                  0, 0);
  }
}

std::vector<LaunchShare>
autopar::evaluation::sharesOf(const PricedStep &step,
                              const LaunchNodes &launch) {
  std::vector<LaunchShare> shares;
  Checked count = step.countOf(launch);
  if (count.isZero())
    return shares;
  double roofs = 0;
  for (const LaunchNodes::Member &member : launch.members) {
    double own = step.real(member.roofUs);
    roofs += own;
    const KernelNodes &kernel = step.strategy.kernels[member.kernel];
    if (!step.whole(kernel.launched).isZero())
      shares.push_back({member.kernel, count,
                        step.whole(kernel.localFlops) * count,
                        step.whole(member.movedBytes) * count, own, 0});
  }
  double roofUs = step.microseconds(launch.roofPs);
  double floorUs = step.microseconds(launch.floorPs);
  for (LaunchShare &share : shares) {
    share.roofUs = roofs > 0 ? roofUs * share.roofUs / roofs : 0;
    share.floorUs = floorUs / static_cast<double>(shares.size());
  }
  return shares;
}

void BreakdownMaker::addLaunch(const LaunchNodes &launch) {
  for (const LaunchShare &share : sharesOf(step, launch)) {
    const Kernel &kernel = step.program.kernels[share.kernel];
    double timeUs = share.roofUs + share.floorUs;
    result.kernelTimeUs[share.kernel] = timeUs;
    add(kernel.op, kernel.layer, share.count, timeUs * share.count.real(),
        share.flops, share.bytes);
  }
}

Result<StepBreakdown> BreakdownMaker::run() {
  result.kernelTimeUs.assign(step.program.kernels.size(), 0);
  addLayers();
  for (const LaunchNodes &launch : step.strategy.launches)
    addLaunch(launch);
  for (const CollectiveCall &cost : calls) {
    Checked count = cost.count;
    add(std::string(nameOf(cost.record->kind)), cost.record->layer, count,
        cost.timeUs * count.real(), 0,
        step.whole(cost.nodes->wireBytes) * count);
  }
  const TotalNodes &total = step.strategy.total;
  double hostUs =
      step.microseconds(total.hostPs) + step.microseconds(total.layersPs);
  if (hostUs > 0) {
    byOp.add("host", step.layout.microbatches, hostUs, 0, 0);
    byLayer.add("host", step.layout.microbatches, hostUs, 0, 0);
  }
  Narrowing narrow(step);
  result.byOp = byOp.take(narrow);
  result.byLayer = byLayer.take(narrow);
  return narrow.finish(std::move(result));
}

Result<StepBreakdown>
autopar::evaluation::breakdownOf(const PricedStep &step,
                                 const std::vector<CollectiveCall> &calls) {
  return BreakdownMaker(step, calls).run();
}
