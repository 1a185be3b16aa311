//===- IterationPrices.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationPrices.h"

using namespace autopar;

IterationPrices::IterationPrices(const SearchProblem &problem,
                                 const SearchTarget &target,
                                 CompiledProgram &compiled)
    : problem(problem), target(target), program(compiled.program()),
      pricer(program, compiled.parts(), compiled.launching(), target.machine,
             target.runtime, target.memoryUtilization) {
  if (Result<std::vector<uint32_t>> layers = layersInOrder(program))
    order = std::move(*layers);
}

void IterationPrices::lay(const Layout &axes, GroupAxis where,
                          int64_t copies) {
  layout = axes;
  stages = where;
  replicas = copies;
}

/// Within the memory where that is possible, else by time alone.
bool IterationPrices::layOut() {
  StagingProblem staging = pricer.problem();
  Result<StagePartition> partition = partitionStages(staging);
  if (!partition && staging.memoryLimitBytes) {
    staging.memoryLimitBytes.reset();
    partition = partitionStages(staging);
  }
  if (partition)
    steps.ranges = std::move(partition->ranges);
  return bool(partition);
}

bool IterationPrices::addTransfers() {
  Network network(target.machine.pools.front(), layout.devices);
  auto count = static_cast<int64_t>(steps.ranges.size());
  steps.transferPs.clear();
  for (int64_t stage = 0; stage + 1 < count; ++stage) {
    Route route =
        transferRoute(network, stages, stage, count, target.runtime.ideal);
    if (!route.tier)
      return false;
    Result<Picoseconds> time = toPicoseconds(timeOf(
        route, pricer.transferBytes(0, steps.ranges[stage + 1].begin)));
    if (!time)
      return false;
    steps.transferPs.push_back(*time);
  }
  return true;
}

/// When devices have their gradients, and what they save until then.
bool IterationPrices::findEnds(std::vector<Picoseconds> &endPs) {
  PipelineSchedule schedule = scheduleOf(pricer, steps);
  Result<PipelineTimeline> timeline = simulateSchedule(schedule);
  if (!timeline)
    return false;
  endPs = endsOf(*timeline);
  savedBytes.clear();
  for (const DeviceTimeline &device : timeline->devices)
    savedBytes.push_back(device.peakSavedBytes);
  return true;
}

/// Of the device that holds most.
bool IterationPrices::findMemory(BatchPrice &price) {
  for (int64_t device = 0; device < steps.shape.stages; ++device) {
    StagePricer::StageMemory memory;
    if (pricer.priceStage(steps.ranges, device, memory))
      return false;
    int64_t saved = savedBytes[device];
    int64_t lost = allocatorBytes(
        target.runtime, saved + static_cast<int64_t>(memory.activationBytes));
    double bytes = memory.totalBytes + static_cast<double>(saved + lost);
    if (device > 0 && bytes <= price.totalBytes)
      continue;
    price.totalBytes = bytes;
    price.fits = bytes <= memory.budgetBytes;
  }
  return true;
}

BatchPrice IterationPrices::price(const IterationShape &shape) {
  BatchPrice price;
  Workload pass = problem.workload;
  pass.batch = problem.batches[shape.batch] / shape.microbatches;
  steps.shape = {shape.schedule, stages.size, shape.interleave,
                 shape.microbatches};
  steps.kinds = {{pass, 1}};
  Result<Picoseconds> host =
      toPicoseconds(hostTimeUs(target.runtime, pass, replicas));
  if (!host || order.empty())
    return price;
  steps.hostPs = {*host};
  std::vector<Picoseconds> endPs;
  if (pricer.price(order, layout, pass, steps.shape) || !layOut() ||
      !addTransfers() || !findEnds(endPs) || !findMemory(price))
    return price;
  price.isLegal = true;
  price.timeUs = toMicroseconds(iterationOf(pricer, steps, endPs).allPs());
  return price;
}
