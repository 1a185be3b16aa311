//===- IterationPrices.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationPrices.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

void IterationPrices::lay(const Layout &axes, GroupAxis where, int64_t copies) {
  layout = axes;
  stages = where;
  replicas = copies;
  passBatch.reset();
  Network network(target.machine.pools.front(), layout.devices);
  hops.clear();
  for (int64_t stage = 0; stages.size > 1 && stage < stages.size; ++stage)
    hops.push_back({transferRoute(network, stages, stage, stages.size,
                                  target.runtime.ideal)});
  ends = {copiesRoute(network, stages, target.runtime.ideal)};
}

/// Prices the parts of the model for microbatches of the size of `pass`, unless
/// they are priced already. Returns whether the prices are legal.
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
  isPriced = addCopies() && !pricer.priceWhole(whole);
  if (!isPriced)
    return false;
  if (partsBefore.empty())
    countParts();
  return true;
}

/// Sets the time that the sum of gradients takes for weights of which the first
/// and the last stage both have a copy (tied embeddings).
bool IterationPrices::addCopies() {
  copiesPs = 0;
  auto bytes = static_cast<double>(pricer.copiedGradientBytes());
  if (bytes == 0)
    return true;
  if (!ends.send(bytes))
    return false;
  copiesPs = *ends.timePs;
  return true;
}

void IterationPrices::countParts() {
  Counts before(pricer.parts.size());
  partsBefore = before;
  for (uint32_t part : pricer.partOf) {
    ++before[part];
    partsBefore.insert(partsBefore.end(), before.begin(), before.end());
  }
}

//===----------------------------------------------------------------------===//
// Work and memory of stages and devices
//===----------------------------------------------------------------------===//

/// Fills `counts` with the number of each part in one stage.
void IterationPrices::countStage(size_t stage, Counts &counts) const {
  size_t parts = pricer.parts.size();
  const int64_t *begin = &partsBefore[ranges[stage].begin * parts],
                *end = &partsBefore[ranges[stage].end * parts];
  for (size_t i = 0; i < parts; ++i)
    counts[i] = end[i] - begin[i];
  counts[parts] = stage == 0;
  counts[parts + 1] = stage + 1 == ranges.size();
}

/// Returns the index of the content with these counts. It looks first at the
/// content that was found last, because most stages equal the stage before.
size_t IterationPrices::contentOf(const Counts &counts) {
  if (lastContent < contents.size() && contents[lastContent].counts == counts)
    return lastContent;
  for (lastContent = 0; lastContent < contents.size(); ++lastContent)
    if (contents[lastContent].counts == counts)
      return lastContent;
  TrainingTimes times;
  for (size_t i = 0; i < pricer.parts.size(); ++i)
    times.add(pricer.parts[i].training, counts[i]);
  times.add(pricer.before.training, counts[counts.size() - 2]);
  times.add(pricer.after.training, counts.back());
  times = pricer.exposed(times);
  Content &content = contents.emplace_back();
  content.counts = counts;
  takeSections(times, content.work);
  content.optimizer = times.of(Section::optimizer);
  bool isEnd = counts[counts.size() - 2] > 0 || counts.back() > 0;
  content.optimizer.copiesPs = isEnd ? copiesPs : 0;
  return lastContent;
}

/// Sets the work of each stage per microbatch, and finds the contents of each
/// device.
void IterationPrices::addWork() {
  auto devices = static_cast<size_t>(shape.stages);
  schedule.work.resize(ranges.size());
  deviceContents.clear();
  Counts counts(pricer.parts.size() + 2), device(counts.size());
  for (size_t first = 0; first < devices; ++first) {
    std::fill(device.begin(), device.end(), 0);
    for (size_t stage = first; stage < ranges.size(); stage += devices) {
      countStage(stage, counts);
      for (size_t i = 0; i < counts.size(); ++i)
        device[i] += counts[i];
      schedule.work[stage] = contents[contentOf(counts)].work;
      schedule.work[stage].savedBytes += pricer.keptOutputBytes(ranges, stage);
    }
    // The host waits once for each device, not once for each virtual stage.
    schedule.work[first].forwardPs += hostPs;
    deviceContents.push_back(contentOf(device));
  }
}

bool IterationPrices::addTransfers() {
  for (size_t stage = 0; stage + 1 < ranges.size(); ++stage) {
    Hop &hop = hops[stage % shape.stages];
    double bytes = pricer.transferBytes(0, ranges[stage + 1].begin);
    if (!hop.send(bytes))
      return false;
    schedule.work[stage].transferPs = *hop.timePs;
  }
  return true;
}

/// Prices a message of `next` bytes. Most messages are as long as the last one,
/// whose time is then used again.
bool IterationPrices::Hop::send(double next) {
  if (!route.tier)
    return false;
  if (bytes == next)
    return timePs.has_value();
  bytes = next;
  Result<Picoseconds> time = toPicoseconds(timeOf(route, bytes));
  timePs = time ? std::optional(*time) : std::nullopt;
  return bool(time);
}

/// Finds the memory of the device that holds most bytes.
bool IterationPrices::findMemory(BatchPrice &price) {
  std::vector<int64_t> savedBytes = peakSavedBytes(schedule);
  for (int64_t device = 0; device < shape.stages; ++device) {
    auto &memory = contents[deviceContents[device]].memory;
    if (!memory && pricer.priceStage(ranges, device, memory.emplace()))
      return false;
    TrainingMemory all = trainingMemoryOf(*memory);
    all.savedBytes = savedBytes[device];
    all.settle(target.runtime);
    if (device > 0 && all.totalBytes <= price.totalBytes)
      continue;
    price.totalBytes = static_cast<double>(all.totalBytes);
    price.fits = all.fits();
  }
  return true;
}

IterationTimes IterationPrices::times() const {
  IterationTimes times;
  std::vector<Picoseconds> ends = trainingEnds(schedule);
  for (int64_t device = 0; device < shape.stages; ++device)
    times.take(ends[device], contents[deviceContents[device]].optimizer);
  times.stragglersPs = pricer.stragglersOf(times.allPs());
  return times;
}

/// Sets the shape and prices its parts. Returns whether these are legal.
bool IterationPrices::begin(const IterationShape &wanted) {
  shape = {wanted.schedule, stages.size, wanted.interleave,
           wanted.microbatches};
  schedule.kind = shape.kind;
  schedule.stages = shape.stages;
  schedule.interleave = shape.interleave;
  schedule.microbatches = shape.microbatches;
  Workload pass = problem.workload();
  pass.batch = problem.batches[wanted.batch] / wanted.microbatches;
  return hasOrder(schedule) && priceParts(pass);
}

/// Returns the bytes that a microbatch keeps for its backward, over all stages.
int64_t IterationPrices::savedBytes() const {
  int64_t bytes =
      pricer.before.training.savedBytes + pricer.after.training.savedBytes;
  for (uint32_t part : pricer.partOf)
    bytes += pricer.parts[part].training.savedBytes;
  return bytes;
}

/// Returns the number of microbatches whose saved bytes every device holds at
/// once at the least (`peakSavedBytes`). The last device of 1F1B holds one; in
/// an interleaved schedule a device holds all virtual stages of one.
static int64_t leastKept(const PipelineShape &shape) {
  switch (shape.kind) {
  case ScheduleKind::gpipe:
    return shape.microbatches;
  case ScheduleKind::zero_bubble:
    return std::min(shape.stages, shape.microbatches);
  default:
    return 1;
  }
}

/// The bytes of the fullest device are at least the mean over all devices. Room
/// that the update frees is in neither.
std::optional<IterationPrices::LeastBytes>
IterationPrices::leastBytesOf(const IterationShape &wanted) {
  // The factor by which rounding may raise the sums below.
  constexpr double slack = 1 - 1e-12;
  if (!begin(wanted) || shape.isFolded())
    return std::nullopt;
  auto saved = static_cast<double>(leastKept(shape) * savedBytes());
  double mean = (whole.keptBytes + saved) / static_cast<double>(shape.stages);
  return LeastBytes{slack * (mean + whole.runtimeBytes), whole.capacityBytes};
}

BatchPrice IterationPrices::price(const IterationShape &wanted) {
  BatchPrice price;
  if (!begin(wanted) || !layOut(ranges))
    return price;
  addWork();
  if (!addTransfers() || checkSchedule(schedule) || !findMemory(price))
    return price;
  price.isLegal = true;
  // The time of a plan that does not fit in memory is not needed.
  if (price.fits)
    price.timeUs = toMicroseconds(times().allPs());
  return price;
}
