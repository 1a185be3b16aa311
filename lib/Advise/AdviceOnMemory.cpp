//===- AdviceOnMemory.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Advice.h"
#include "autopar/Evaluate/FitSearch.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

using Subject = Warning::Subject;
using Kind = Resident::Kind;

//===----------------------------------------------------------------------===//
// Changes that make a plan fit
//===----------------------------------------------------------------------===//

/// Describes a plan by one degree: "tp = 16 on 16 devices (--nodes=2)".
static std::string describe(const EvaluatedStep &step, const Plan &plan,
                            Degree degree) {
  int64_t devices = *plan.devices();
  std::string text = std::string(nameOf(degree)) + " = " +
                     std::to_string(*plan.sizeOf(degree)) + " on " +
                     std::to_string(devices) + " devices";
  const Pool &pool = step.pool();
  if (devices > pool.devices())
    text +=
        " (--nodes=" + std::to_string((devices - 1) / pool.devicesPerNode + 1) +
        ")";
  return text;
}

/// Returns the smallest power of two over which weights and caches must be
/// split to fit beside the memory that is not split (runtime, temporaries); 0
/// if this memory alone does not fit. The number is a lower bound, because a
/// program without tp cannot be priced with tp.
static int64_t leastTensorParallel(const Report::DeviceMemory &device) {
  int64_t left =
      device.budgetBytes - device.runtimeBytes - device.reservedBytes;
  int64_t split = device.weightBytes + device.kvCacheBytes;
  if (left <= 0)
    return 0;
  int64_t size = 1;
  while (size < limits::maxDevices && split / size > left)
    size *= 2;
  return size;
}

/// Returns the hint for a plan for which no change was found that makes it fit.
static std::string hintOfFit(const EvaluatedStep &step) {
  const Report::DeviceMemory &device = step.report.memory.perDevice;
  int64_t least = leastTensorParallel(device);
  if (!step.plan.has(Degree::tp) && least > 1)
    return "weights and KV cache need at least --shard-tp=" +
           std::to_string(least) +
           "; autopar search --goal=devices finds a plan that fits";
  if (device.weightBytes <= device.budgetBytes)
    return "a narrower --kv-dtype or devices with more memory would help";
  return "no larger tp or ep fits: a narrower weight format or devices with "
         "more memory would help";
}

static std::string remediesOfFit(const EvaluatedStep &step) {
  FitSearch search(step);
  std::vector<std::string> remedies;
  std::vector<std::string> tp = step.plan.axesOf(Degree::tp);
  std::vector<std::string> ep = step.plan.axesOf(Degree::ep);
  auto tryAxis = [&](const std::string &axis, Degree degree) {
    if (std::optional<Plan> plan = search.findLarger(axis))
      remedies.push_back(describe(step, *plan, degree));
  };
  if (!tp.empty())
    tryAxis(tp.back(), Degree::tp);
  if (!ep.empty() && (tp.empty() || ep.front() != tp.back()))
    tryAxis(ep.front(), Degree::ep);
  if (int64_t batch = search.findBatch())
    remedies.push_back("--batch=" +
                       std::to_string(batch * step.layout.microbatches));
  else if (int64_t context = search.findContext())
    remedies.push_back("--context=" + std::to_string(context));
  return remedies.empty() ? hintOfFit(step)
                          : join(remedies, " or ") + " would fit";
}

static std::string largestItem(const Report::DeviceMemory &device) {
  std::pair<int64_t, const char *> items[] = {
      {device.weightBytes, "weights"},
      {device.kvCacheBytes, "the KV cache"},
      {device.stateBytes, "states"},
      {device.gradientBytes, "gradients"},
      {device.optimizerBytes, "the optimizer"},
      {device.updateBytes, "copies of gradients"},
      {device.savedBytes, "saved activations"},
      {device.reservedBytes, "temporaries"},
      {device.runtimeBytes, "the runtime"}};
  auto *largest = std::max_element(
      std::begin(items), std::end(items),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  return std::string(largest->second) + ", " + formatBytes(largest->first);
}

std::string autopar::advice::missingText(const Report::DeviceMemory &device,
                                         const Runtime &runtime) {
  return "does not fit: needs " + formatBytes(device.totalBytes) +
         " per device, " + formatBytes(device.budgetBytes) +
         " are usable under " + runtime.name + ", short by " +
         formatBytes(device.totalBytes - device.budgetBytes) +
         "; largest part: " + largestItem(device);
}

void autopar::advice::adviseOnFit(const EvaluatedStep &step,
                                  Warnings &warnings) {
  const Report::DeviceMemory &device = step.report.memory.perDevice;
  if (device.fits)
    return;
  warnings.push_back(
      {missingText(device, step.runtime) + "; " + remediesOfFit(step),
       "does-not-fit"});
}

//===----------------------------------------------------------------------===//
// Warnings about devices that hold the same part of the KV cache
//===----------------------------------------------------------------------===//

/// Returns how many devices of tp hold the same part of `cache`: the devices
/// along axes that do not split the cache, times those beyond the extent of a
/// capped split.
static Checked copiesOver(const EvaluatedStep &step, const Resident &cache) {
  Checked copies = 1;
  std::vector<AxisId> splitting;
  for (const Dim &dim : cache.shape) {
    splitting.insert(splitting.end(), dim.axes.begin(), dim.axes.end());
    Checked extent = step.logical(dim.extent);
    Checked devices = step.groupSize(dim.axes);
    if (dim.rule == SplitRule::cap && extent > 0 && devices > extent)
      copies *= floorDiv(devices, extent);
  }
  for (size_t i = 0; i < step.program.axes.size(); ++i) {
    auto axis = static_cast<AxisId>(i);
    if (isAxisOf(step, axis, Degree::tp) &&
        std::find(splitting.begin(), splitting.end(), axis) == splitting.end())
      copies *= step.axisSize(axis);
  }
  return copies;
}

/// Returns the flag that removes copies of the cache: dcp splits the tokens
/// among them, a smaller attention_tp splits the sequences.
static std::string remedyOfCopies(const EvaluatedStep &step, int64_t copies) {
  const Plan &plan = step.plan;
  int64_t attention = *plan.sizeOf(Degree::attention_tp),
          dcp = *plan.sizeOf(Degree::dcp);
  std::string text;
  if (attention % (dcp * copies) == 0)
    text = "--shard-dcp=" + std::to_string(dcp * copies);
  if (dcp == 1 && attention % copies == 0)
    text += (text.empty() ? "" : " (by tokens) or ") +
            std::string("--shard-attention-tp=") +
            std::to_string(attention / copies) +
            (text.empty() ? "" : " (by sequences)");
  return text.empty() ? "a smaller tp stores fewer copies"
                      : text + " stores it once";
}

void autopar::advice::adviseOnCacheCopies(const EvaluatedStep &step,
                                          Warnings &warnings) {
  const std::vector<Resident> &residents = step.program.residents;
  Checked most = 1, copied;
  size_t first = 0;
  for (size_t i = 0; i < residents.size(); ++i) {
    const Resident &cache = residents[i];
    if (cache.kind != Kind::kv_cache)
      continue;
    Checked copies = copiesOver(step, cache);
    const ResidentNodes &nodes = step.strategy.residents[i];
    Checked bytes = step.whole(nodes.localBytes) * step.count(nodes.count);
    copied += bytes - floorDiv(bytes, copies);
    if (copies > most) {
      most = copies;
      first = i;
    }
  }
  if (most == 1 || !most.int64())
    return;
  warnings.push_back(
      {"the KV cache is stored " + formatInteger(most) +
           " times over tp = " + std::to_string(*step.plan.sizeOf(Degree::tp)) +
           ": " + formatBytes(copied) + " per device are copies; " +
           remedyOfCopies(step, *most.int64()),
       "cache-copies", Subject::resident, first});
}

//===----------------------------------------------------------------------===//
// Warnings about idle memory and about gathered weights
//===----------------------------------------------------------------------===//

/// In a decode step that is bound by memory, the sequences of a replica share
/// the reads of weights. If the caches of all replicas fit in one replica, the
/// other replicas read weights without need.
void autopar::advice::adviseOnIdleMemory(const EvaluatedStep &step,
                                         Warnings &warnings) {
  const Workload &workload = step.workload;
  const Report &report = step.report;
  int64_t replicas = *step.plan.sizeOf(Degree::dp);
  Checked capacity =
      floorDiv(Checked(report.memory.kvCapacityTokens), workload.context);
  if (workload.phase != Phase::decode || replicas == 1 ||
      report.latency.bound != "memory" || capacity < workload.batch ||
      report.memory.kvBytesPerToken == 0)
    return;
  warnings.push_back(
      {"dp = " + std::to_string(replicas) +
           " leaves memory idle: one replica has room for " +
           formatInteger(capacity) + " sequences, and the step has " +
           formatInteger(workload.batch) +
           " on all replicas; larger batches, up to --batch=" +
           (capacity * replicas).str() +
           ", would share each read of the weights" +
           (step.plan.has(Degree::ep) ? ""
                                      : ", or one replica could serve these"),
       "idle-memory", Subject::mesh});
}

/// Returns whether `record` gathers a weight; the extents of weights have no
/// symbols.
static bool gathersWeight(const Collective &record) {
  return record.kind == CollectiveKind::all_gather &&
         std::all_of(
             record.shape.begin(), record.shape.end(),
             [](const Dim &dim) { return dim.extent.symbols.empty(); }) &&
         !record.shape.empty();
}

void autopar::advice::adviseOnGatheredWeights(const EvaluatedStep &step,
                                              Warnings &warnings) {
  // Training splits weights because of their optimizer states, so that no
  // advice is given.
  if (step.strategy.trains)
    return;
  double timeUs = 0;
  Checked calls, parts;
  const Collective *first = nullptr;
  for (const CollectiveCall &cost : step.calls) {
    if (!gathersWeight(*cost.record))
      continue;
    if (!first)
      first = cost.record;
    timeUs += cost.timeUs * static_cast<double>(cost.count);
    calls += cost.count;
    // Bytes that the other devices send: each device would hold them itself if
    // weights were not split.
    Checked own = floorDiv(cost.bytes, cost.groupSize);
    parts += (cost.bytes - own) * cost.count;
  }
  if (!first)
    return;
  const auto &memory = step.report.memory;
  Checked total = Checked(memory.perDevice.totalBytes) + parts;
  warnings.push_back(
      {"fsdp gathers weights in every step: " + formatInteger(calls) +
           " all_gathers, " + shareText(step, timeUs) +
           "; without --fsdp a device holds " +
           formatBytes(parts + memory.perDevice.weightBytes) +
           " of weights instead of " +
           formatBytes(memory.perDevice.weightBytes) +
           (total <= memory.perDevice.budgetBytes
                ? ", which fits"
                : ", short by " +
                      formatBytes(total - memory.perDevice.budgetBytes) +
                      ": a larger tp splits them without gathers"),
       "gathered-weights", Subject::collective,
       static_cast<size_t>(first - step.program.collectives.data())});
}
