//===- IterationPrices.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationPrices.h"

using namespace autopar;

void IterationPrices::lay(const Layout &axes, GroupAxis where, int64_t copies) {
  layout = axes;
  stages = where;
  replicas = copies;
  passBatch.reset();
  Network network(target.machine.pools.front(), layout.devices);
  routes.clear();
  for (int64_t stage = 0; stages.size > 1 && stage < stages.size; ++stage)
    routes.push_back(transferRoute(network, stages, stage, stages.size,
                                   target.runtime.ideal));
}

/// Prices the parts for microbatches of `pass`, where that is not done.
bool IterationPrices::priceParts(const Workload &pass) {
  if (passBatch == pass.batch) {
    pricer.reshape(shape);
    return isPriced;
  }
  passBatch = pass.batch;
  contents.clear();
  Result<Picoseconds> host =
      toPicoseconds(hostTimeUs(target.runtime, pass, replicas));
  isPriced =
      host && !order.empty() && !pricer.price(order, layout, pass, shape);
  if (!isPriced)
    return false;
  hostPs = *host;
  partsBefore.assign(pricer.parts.size(), {0});
  for (uint32_t part : pricer.partOf)
    for (size_t i = 0; i < partsBefore.size(); ++i)
      partsBefore[i].push_back(partsBefore[i].back() + (part == i));
  return true;
}

//===----------------------------------------------------------------------===//
// Stages and devices
//===----------------------------------------------------------------------===//

IterationPrices::Counts IterationPrices::countsOf(size_t stage) const {
  Counts counts;
  const LayerRange &range = ranges[stage];
  for (const std::vector<int64_t> &before : partsBefore)
    counts.push_back(before[range.end] - before[range.begin]);
  counts.push_back(stage == 0);
  counts.push_back(stage + 1 == ranges.size());
  return counts;
}

size_t IterationPrices::contentOf(const Counts &counts) {
  for (size_t i = contents.size(); i-- > 0;)
    if (contents[i].counts == counts)
      return i;
  TrainingTimes times;
  for (size_t i = 0; i < pricer.parts.size(); ++i)
    times.add(pricer.parts[i].training, counts[i]);
  times.add(pricer.before.training, counts[counts.size() - 2]);
  times.add(pricer.after.training, counts.back());
  contents.push_back({counts, pricer.exposed(times)});
  return contents.size() - 1;
}

/// What microbatches cost on each stage, and what devices have.
void IterationPrices::addWork() {
  schedule.work.clear();
  deviceCounts.assign(shape.stages, {});
  for (size_t stage = 0; stage < ranges.size(); ++stage) {
    Counts counts = countsOf(stage);
    StageWork &work = schedule.work.emplace_back();
    // The host waits once for a device's stages.
    work.forwardPs = static_cast<int64_t>(stage) < shape.stages ? hostPs : 0;
    takeSections(contents[contentOf(counts)].exposed, work);
    Counts &device = deviceCounts[stage % shape.stages];
    device.resize(counts.size());
    for (size_t i = 0; i < counts.size(); ++i)
      device[i] += counts[i];
  }
  deviceContents.clear();
  for (const Counts &counts : deviceCounts)
    deviceContents.push_back(contentOf(counts));
}

bool IterationPrices::addTransfers() {
  for (size_t stage = 0; stage + 1 < ranges.size(); ++stage) {
    const Route &route = routes[stage % shape.stages];
    if (!route.tier)
      return false;
    Result<Picoseconds> time = toPicoseconds(
        timeOf(route, pricer.transferBytes(0, ranges[stage + 1].begin)));
    if (!time)
      return false;
    schedule.work[stage].transferPs = *time;
  }
  return true;
}

/// Of the device that holds most.
bool IterationPrices::findMemory(BatchPrice &price) {
  for (int64_t device = 0; device < shape.stages; ++device) {
    auto &memory = contents[deviceContents[device]].memory;
    if (!memory && pricer.priceStage(ranges, device, memory.emplace()))
      return false;
    int64_t saved = timeline.peakSavedBytes[device];
    int64_t lost = allocatorBytes(
        target.runtime, saved + static_cast<int64_t>(memory->activationBytes));
    double bytes = memory->totalBytes + static_cast<double>(saved + lost);
    if (device > 0 && bytes <= price.totalBytes)
      continue;
    price.totalBytes = bytes;
    price.fits = bytes <= memory->budgetBytes;
  }
  return true;
}

BatchPrice IterationPrices::price(const IterationShape &wanted) {
  BatchPrice price;
  shape = {wanted.schedule, stages.size, wanted.interleave,
           wanted.microbatches};
  schedule.kind = shape.kind;
  schedule.stages = shape.stages;
  schedule.interleave = shape.interleave;
  schedule.microbatches = shape.microbatches;
  Workload pass = problem.workload;
  pass.batch = problem.batches[wanted.batch] / wanted.microbatches;
  if (!hasOrder(schedule) || !priceParts(pass) || !layOut(ranges))
    return price;
  addWork();
  if (!addTransfers() || checkSchedule(schedule))
    return price;
  runTraining(schedule, timeline);
  if (!findMemory(price))
    return price;
  IterationTimes times;
  for (int64_t device = 0; device < shape.stages; ++device)
    times.take(timeline.endPs[device],
               contents[deviceContents[device]].exposed.of(Section::optimizer));
  times.stragglersPs = pricer.stragglersOf(times.allPs());
  price.isLegal = true;
  price.timeUs = toMicroseconds(times.allPs());
  return price;
}
