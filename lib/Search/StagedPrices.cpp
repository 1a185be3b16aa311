//===- StagedPrices.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagedPrices.h"

#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

bool StagedPrices::addTransfers(const StagedPoint &point) {
  Network network(target.machine.pools.front(), point.layout.devices);
  auto stages = static_cast<int64_t>(steps.ranges.size());
  steps.transferPs.clear();
  for (int64_t stage = 0; stage + (steps.loops ? 0 : 1) < stages; ++stage) {
    bool isLast = stage + 1 == stages;
    Route route = transferRoute(network, point.stages, stage, stages,
                                target.runtime.ideal);
    if (!route.tier)
      return false;
    int64_t layer = isLast ? -1 : steps.ranges[stage + 1].begin;
    for (size_t kind = 0; kind < steps.kinds.size(); ++kind) {
      Result<Picoseconds> time =
          toPicoseconds(timeOf(route, pricer.transferBytes(kind, layer)));
      if (!time)
        return false;
      steps.transferPs.push_back(*time);
    }
  }
  return true;
}

/// Finds the memory of the device that holds most bytes.
bool StagedPrices::findMemory(BatchPrice &price) {
  for (int64_t device = 0; device < steps.shape.stages; ++device) {
    StagePricer::StageMemory memory;
    if (pricer.priceStage(steps.ranges, device, memory))
      return false;
    if (device > 0 && memory.totalBytes <= price.totalBytes)
      continue;
    price.totalBytes = memory.totalBytes;
    price.fits = memory.fits;
  }
  return true;
}

BatchPrice StagedPrices::price(const StagedPoint &point) {
  BatchPrice none;
  Workload pass = problem.workload();
  pass.batch = point.batch / point.microbatches;
  steps.shape = {};
  steps.shape.stages = point.stages.size;
  steps.shape.microbatches = point.microbatches;
  steps.loops = pass.phase == Phase::decode;
  std::vector<PrefillChunk> chunks =
      stepsOf(pass, target.runtime, program.keepsTokens(), point.replicas);
  steps.kinds = chunks.empty() ? std::vector<PrefillChunk>{{pass, 1}} : chunks;
  steps.hostPs.clear();
  for (const PrefillChunk &kind : steps.kinds) {
    Result<Picoseconds> host =
        toPicoseconds(hostTimeUs(target.runtime, kind.step, point.replicas));
    if (!host)
      return none;
    steps.hostPs.push_back(*host);
  }
  if (order.empty() ||
      pricer.price(order, point.layout, pass, steps.shape, chunks) ||
      !layOut(steps.ranges) ||
      steps.tasks() > Checked(limits::maxScheduledTasks) ||
      !addTransfers(point))
    return none;
  BatchPrice price;
  if (!findMemory(price))
    return none;
  PipelineSchedule schedule = scheduleOf(pricer, steps);
  Result<PipelineTimeline> timeline = simulateSchedule(schedule);
  if (!timeline)
    return none;
  price.isLegal = true;
  price.timeUs = toMicroseconds(stepTimeOf(schedule, *timeline));
  return price;
}
