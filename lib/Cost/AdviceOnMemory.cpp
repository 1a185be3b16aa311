//===- AdviceOnMemory.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Advice.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

using Subject = Warning::Subject;
using Kind = Resident::Kind;

//===----------------------------------------------------------------------===//
// What would fit
//===----------------------------------------------------------------------===//

/// Whether the same program fits with another plan or workload, on as many
/// devices as that takes. Sizes that do not divide do not.
static bool fits(const Evaluation &evaluation, const Plan &plan,
                 const Workload &workload) {
  Evaluation other(evaluation.program, plan, evaluation.machine,
                   evaluation.runtime, workload);
  addMemory(other);
  return !other.sizes.failed() && other.report.memory.perDevice.fits;
}

/// The plan with `axis` doubled until the program fits.
static std::optional<Plan> findLarger(const Evaluation &evaluation,
                                      const std::string &axis) {
  Plan plan = evaluation.plan;
  std::optional<int64_t> &size = plan.axis(axis)->size;
  while (*plan.devices() <= limits::maxDevices / 2) {
    *size *= 2;
    if (fits(evaluation, plan, evaluation.workload))
      return plan;
  }
  return std::nullopt;
}

/// "tp = 16 on 16 devices (--nodes=2)".
static std::string describe(const Evaluation &evaluation, const Plan &plan,
                            const char *degree) {
  int64_t devices = *plan.devices();
  std::string text = std::string(degree) + " = " +
                     std::to_string(*plan.sizeOf(degree)) + " on " +
                     std::to_string(devices) + " devices";
  const Pool &pool = evaluation.pool;
  if (devices > pool.devices())
    text +=
        " (--nodes=" + std::to_string((devices - 1) / pool.devicesPerNode + 1) +
        ")";
  return text;
}

/// The most sequences that fit; 0 where not one does. Memory grows with them.
static int64_t findBatch(const Evaluation &evaluation) {
  int64_t fit = 0, tooMany = evaluation.workload.batch;
  while (tooMany - fit > 1) {
    Workload workload = evaluation.workload;
    workload.batch = fit + (tooMany - fit) / 2;
    (fits(evaluation, evaluation.plan, workload) ? fit : tooMany) =
        workload.batch;
  }
  return fit;
}

/// What helps where nothing was found that does.
static std::string hintOfFit(const Evaluation &evaluation) {
  const auto &memory = evaluation.report.memory;
  Checked least = ceilDiv(Checked(memory.perDevice.weightBytes),
                          std::max<int64_t>(1, memory.budgetBytes));
  if (least == 1)
    return "a shorter context, a narrower --kv-dtype or devices with more "
           "memory would help";
  if (!evaluation.plan.has("tp"))
    return "the weights alone need --shard-tp=" + least.str() + " or more";
  return "no larger tp or ep does: a narrower format of the weights or devices "
         "with more memory would help";
}

static std::string remediesOfFit(const Evaluation &evaluation) {
  std::vector<std::string> remedies;
  std::vector<std::string> tp = evaluation.plan.axesOf("tp");
  std::vector<std::string> ep = evaluation.plan.axesOf("ep");
  auto tryAxis = [&](const std::string &axis, const char *degree) {
    if (std::optional<Plan> plan = findLarger(evaluation, axis))
      remedies.push_back(describe(evaluation, *plan, degree));
  };
  if (!tp.empty())
    tryAxis(tp.back(), "tp");
  if (!ep.empty() && (tp.empty() || ep.front() != tp.back()))
    tryAxis(ep.front(), "ep");
  if (int64_t batch = findBatch(evaluation))
    remedies.push_back("--batch=" + std::to_string(batch));
  return remedies.empty() ? hintOfFit(evaluation)
                          : join(remedies, " or ") + " would fit";
}

static std::string largestItem(const Report::DeviceMemory &device) {
  std::pair<int64_t, const char *> items[] = {
      {device.weightBytes, "weights"},
      {device.kvCacheBytes, "the KV cache"},
      {device.stateBytes, "states"},
      {device.activationBytes, "activations"},
      {device.runtimeBytes, "the runtime"}};
  auto *largest = std::max_element(
      std::begin(items), std::end(items),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  return std::string(largest->second) + " " + formatBytes(largest->first);
}

void autopar::adviseOnFit(Evaluation &evaluation) {
  const auto &memory = evaluation.report.memory;
  const Report::DeviceMemory &device = memory.perDevice;
  if (device.fits)
    return;
  evaluation.report.warnings.push_back(
      {"does not fit: a device needs " + formatBytes(device.totalBytes) +
           " of the " + formatBytes(memory.budgetBytes) + " that " +
           evaluation.runtime.name + " may use, " +
           formatBytes(device.totalBytes - memory.budgetBytes) +
           " too much, most of it " + largestItem(device) + "; " +
           remediesOfFit(evaluation),
       "does-not-fit"});
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Devices of tp that hold the same part of `cache`: those along axes that do
/// not split it, times those beyond the extent of a capped split.
static Checked copiesOver(const Evaluation &evaluation, const Resident &cache) {
  const Sizes &sizes = evaluation.sizes;
  Checked copies = 1;
  std::vector<AxisId> splitting;
  for (const Dim &dim : cache.shape) {
    splitting.insert(splitting.end(), dim.axes.begin(), dim.axes.end());
    Checked extent = sizes.logical(dim.extent);
    Checked devices = sizes.groupSize(dim.axes);
    if (dim.rule == SplitRule::cap && extent > 0 && devices > extent)
      copies *= floorDiv(devices, extent);
  }
  for (size_t i = 0; i < evaluation.program.axes.size(); ++i) {
    auto axis = static_cast<AxisId>(i);
    if (isAxisOf(evaluation, axis, "tp") &&
        std::find(splitting.begin(), splitting.end(), axis) == splitting.end())
      copies *= sizes.axisSize(axis);
  }
  return copies;
}

/// dcp has the copies share the tokens, a smaller attention_tp the sequences.
static std::string remedyOfCopies(const Evaluation &evaluation,
                                  int64_t copies) {
  const Plan &plan = evaluation.plan;
  int64_t attention = *plan.sizeOf("attention_tp"), dcp = *plan.sizeOf("dcp");
  std::string text;
  if (attention % (dcp * copies) == 0)
    text = "--shard-dcp=" + std::to_string(dcp * copies);
  if (dcp == 1 && attention % copies == 0)
    text += (text.empty() ? "" : " (by tokens) or ") +
            std::string("--shard-attention-tp=") +
            std::to_string(attention / copies) +
            (text.empty() ? "" : " (by sequences)");
  return text.empty() ? "a smaller tp holds fewer" : text + " holds it once";
}

void autopar::adviseOnCacheCopies(Evaluation &evaluation) {
  const std::vector<Resident> &residents = evaluation.program.residents;
  Sizes &sizes = evaluation.sizes;
  Checked most = 1, copied;
  size_t first = 0;
  for (size_t i = 0; i < residents.size(); ++i) {
    const Resident &cache = residents[i];
    if (cache.kind != Kind::kv_cache)
      continue;
    sizes.enter("KV cache", cache.name);
    Checked copies = copiesOver(evaluation, cache);
    Checked bytes = bytesOf(sizes.local(cache.shape) * cache.count, cache.type);
    copied += bytes - floorDiv(bytes, copies);
    if (copies > most) {
      most = copies;
      first = i;
    }
  }
  if (most == 1 || !most.int64())
    return;
  evaluation.report.warnings.push_back(
      {"the KV cache is held " + formatInteger(most) +
           " times over tp = " + std::to_string(*evaluation.plan.sizeOf("tp")) +
           ": " + formatBytes(copied) + " on each device are copies; " +
           remedyOfCopies(evaluation, *most.int64()),
       "cache-copies", Subject::resident, first});
}

//===----------------------------------------------------------------------===//
// Idle memory, gathered weights
//===----------------------------------------------------------------------===//

/// In a decode step that memory bounds, sequences share the reads of weights:
/// where the caches of all replicas fit into one, the others read for nothing.
void autopar::adviseOnIdleMemory(Evaluation &evaluation) {
  const Workload &workload = evaluation.workload;
  const Report &report = evaluation.report;
  int64_t replicas = *evaluation.plan.sizeOf("dp");
  Checked capacity =
      floorDiv(Checked(report.memory.kvCapacityTokens), workload.context);
  if (workload.phase != Phase::decode || replicas == 1 ||
      report.latency.bound != "memory" || capacity < workload.batch ||
      report.memory.kvBytesPerToken == 0)
    return;
  evaluation.report.warnings.push_back(
      {"dp = " + std::to_string(replicas) +
           " leaves memory idle: the KV cache of one replica has room for " +
           formatInteger(capacity) + " sequences, and the step has " +
           formatInteger(workload.batch) + " on all; up to --batch=" +
           (capacity * replicas).str() + " share each read of the weights" +
           (evaluation.plan.has("ep") ? "" : ", or one replica serves these"),
       "idle-memory", Subject::mesh});
}

/// Whether `record` gathers weights: those have numbers for extents.
static bool gathersWeight(const Collective &record) {
  return record.kind == CollectiveKind::all_gather &&
         std::all_of(
             record.shape.begin(), record.shape.end(),
             [](const Dim &dim) { return dim.extent.symbols.empty(); }) &&
         !record.shape.empty();
}

void autopar::adviseOnGatheredWeights(Evaluation &evaluation) {
  double timeUs = 0;
  Checked calls, parts;
  const Collective *first = nullptr;
  for (const CollectiveCost &cost : evaluation.collectives) {
    if (!gathersWeight(*cost.record))
      continue;
    if (!first)
      first = cost.record;
    timeUs += cost.time.timeUs * static_cast<double>(cost.record->count);
    calls += cost.record->count;
    // What the others send stays where weights are not split.
    Checked own = floorDiv(cost.bytes, cost.groupSize);
    parts += (cost.bytes - own) * cost.record->count;
  }
  if (!first)
    return;
  const auto &memory = evaluation.report.memory;
  Checked total = Checked(memory.perDevice.totalBytes) + parts;
  evaluation.report.warnings.push_back(
      {"fsdp gathers weights in every step: " + formatInteger(calls) +
           " all_gathers, " + shareText(evaluation, timeUs) +
           "; without --fsdp a device holds " +
           formatBytes(parts + memory.perDevice.weightBytes) +
           " of weights instead of " +
           formatBytes(memory.perDevice.weightBytes) +
           (total <= memory.budgetBytes
                ? ", which fits"
                : ", " + formatBytes(total - memory.budgetBytes) +
                      " too much: a larger tp splits them without gathers"),
       "gathered-weights", Subject::collective,
       static_cast<size_t>(first - evaluation.program.collectives.data())});
}
