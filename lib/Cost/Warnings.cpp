//===- Warnings.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;

using Warnings = std::vector<std::string>;

/// "2.4x".
static std::string times(double ratio) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.1fx", ratio);
  return buffer;
}

/// At most five names, then how many more.
static std::string listSome(const std::vector<std::string> &names) {
  constexpr size_t limit = 5;
  std::vector<std::string> first(names.begin(),
                                 names.begin() + std::min(names.size(), limit));
  std::string text = join(first, ", ");
  if (names.size() > limit)
    text += " and " + std::to_string(names.size() - limit) + " more";
  return text;
}

static void warnMemory(Evaluation &evaluation, Warnings &warnings) {
  const auto &memory = evaluation.report.memory;
  const Report::DeviceMemory &device = memory.perDevice;
  if (device.fits)
    return;
  std::string remedy =
      device.totalBytes - device.kvCacheBytes > memory.budgetBytes
          ? "split the weights over more devices (a larger tp) or take "
            "devices with more memory"
          : "fewer sequences, a shorter context or a narrower --kv-dtype "
            "would help, and so would a larger tp";
  warnings.push_back("does not fit: a device needs " +
                     formatBytes(device.totalBytes) + " of the " +
                     formatBytes(memory.budgetBytes) + " that " +
                     evaluation.runtime.name + " may use, " +
                     formatBytes(device.totalBytes - memory.budgetBytes) +
                     " too much; " + remedy);
}

static void warnReplicatedCaches(Evaluation &evaluation, Warnings &warnings) {
  Sizes &sizes = evaluation.sizes;
  for (const Resident &cache : evaluation.program.residents) {
    if (cache.kind != Resident::Kind::kv_cache)
      continue;
    for (const Dim &dim : cache.shape) {
      Checked extent = sizes.logical(dim.extent);
      Checked devices = sizes.groupSize(dim.axes);
      if (dim.rule != SplitRule::cap || extent == 0 || devices <= extent)
        continue;
      Checked copies = floorDiv(devices, extent);
      warnings.push_back(
          "the KV cache is held " + formatInteger(copies.int64().value_or(0)) +
          " times: " + formatInteger(extent.int64().value_or(0)) +
          " KV heads are split over " +
          formatInteger(devices.int64().value_or(0)) + " devices");
      return;
    }
  }
}

/// Engines that multiply in 8 bits keep everything else wider.
static void warnNarrowStream(Evaluation &evaluation, Warnings &warnings) {
  for (const Kernel &kernel : evaluation.program.kernels)
    if (kernel.kind == KernelKind::elementwise && bitsOf(kernel.compute) < 16) {
      warnings.push_back(
          "activations, norms and collectives are " +
          std::string(nameOf(kernel.compute)) +
          " too: serving engines keep them in 16 bits, so that their bytes "
          "and times are twice what is shown");
      return;
    }
}

/// Axes that the program never splits by: their devices repeat the same work.
static void warnIdleAxes(Evaluation &evaluation, Warnings &warnings) {
  const std::vector<std::string> &used = evaluation.program.axes;
  for (const PlanAxis &axis : evaluation.plan.axes)
    if (*axis.size > 1 &&
        std::find(used.begin(), used.end(), axis.name) == used.end())
      warnings.push_back("axis '" + axis.name + "' of " +
                         formatInteger(*axis.size) +
                         " devices splits nothing: they repeat the same work");
}

static void warnTiers(Evaluation &evaluation, Warnings &warnings) {
  std::vector<std::string> crossing, modelled, interpolated;
  auto addOnce = [](std::vector<std::string> &names, std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  };
  for (const CollectiveCost &cost : evaluation.collectives) {
    std::vector<std::string> axes;
    for (AxisId axis : cost.record->axes)
      axes.push_back(evaluation.program.axes[axis]);
    std::string call = std::string(nameOf(cost.record->kind)) + " over " +
                       join(axes, "*") + " = " + std::to_string(cost.groupSize);
    if (cost.time.tier->domain > evaluation.pool.devicesPerNode &&
        cost.time.tier != &evaluation.pool.tiers.front())
      addOnce(crossing, call);
    if (cost.time.modelled)
      addOnce(modelled, call);
    else if (cost.time.interpolated)
      addOnce(interpolated, call);
  }
  if (!crossing.empty())
    warnings.push_back("collectives cross nodes: " + listSome(crossing));
  if (!modelled.empty())
    warnings.push_back("no measured curve, priced by latency and bandwidth: " +
                       listSome(modelled));
  if (!interpolated.empty())
    warnings.push_back("group size not measured, interpolated: " +
                       listSome(interpolated));
}

static void warnCollectiveSources(Evaluation &evaluation, Warnings &warnings) {
  if (evaluation.runtime.ideal)
    return;
  std::vector<std::string> unmeasured;
  for (const CollectiveCost &cost : evaluation.collectives) {
    const CollectiveCurve *curve = cost.curve();
    if (!curve || curve->source.kind == "measured")
      continue;
    std::string text =
        std::string(nameOf(cost.record->kind)) + " " + curve->source.str();
    if (std::find(unmeasured.begin(), unmeasured.end(), text) ==
        unmeasured.end())
      unmeasured.push_back(std::move(text));
  }
  if (!unmeasured.empty())
    warnings.push_back("collective curves not measured on this system: " +
                       listSome(unmeasured));
}

static void warnSources(Evaluation &evaluation, Warnings &warnings) {
  std::vector<std::string> recalled, derived, missing;
  for (const Figure *figure : evaluation.figures)
    if (figure->source.kind == "recalled")
      recalled.push_back(figure->path);
  for (auto [kind, curve] : evaluation.curves) {
    if (curve->source.kind == "recalled")
      recalled.push_back(curve->path);
    if (curve->source.kind == "derived")
      derived.push_back(curve->path);
  }
  warnCollectiveSources(evaluation, warnings);
  for (KernelKind kind : evaluation.kindsWithoutCurve)
    missing.push_back(std::string(nameOf(kind)));
  if (!recalled.empty())
    warnings.push_back("recalled and not checked against a document: " +
                       listSome(recalled));
  if (!derived.empty())
    warnings.push_back("kernel curves derived, not measured on this chip: " +
                       listSome(derived));
  if (!evaluation.beyondFit.empty())
    warnings.push_back("larger than any kernel that was measured: " +
                       listSome(evaluation.beyondFit));
  if (!missing.empty())
    warnings.push_back("no kernel curve of " + evaluation.pool.chip.name +
                       ", peak rates assumed: " + listSome(missing));
}

/// How far a decode step lands above reading weights and KV once, and why.
static void warnDecode(Evaluation &evaluation, Warnings &warnings) {
  const auto &latency = evaluation.report.latency;
  double floor = latency.bounds.memoryTimeUs;
  if (evaluation.workload.phase != Phase::decode || floor <= 0 ||
      latency.stepTimeUs < floor * 1.05)
    return;
  std::string why;
  auto add = [&](double timeUs, const std::string &what) {
    if (timeUs > 0.01 * floor)
      why += (why.empty() ? "" : ", ") + formatTime(timeUs) + " " + what;
  };
  Checked calls;
  for (const CollectiveCost &cost : evaluation.collectives)
    calls += cost.record->count;
  add(evaluation.floorTimeUs, "for the floors of " +
                                  formatInteger(latency.kernelLaunches) +
                                  " kernels");
  add(latency.communicationTimeUs,
      "in " + formatInteger(calls.int64().value_or(0)) + " collectives");
  add(latency.overheadTimeUs - evaluation.floorTimeUs, "on the host");
  add(latency.memoryTimeUs + latency.computeTimeUs - floor,
      "below peak bandwidth and on activations");
  warnings.push_back("decode lands at " + times(latency.stepTimeUs / floor) +
                     " its memory floor of " + formatTime(floor) + ": " + why);
}

void autopar::addWarnings(Evaluation &evaluation) {
  Warnings &warnings = evaluation.report.warnings;
  warnMemory(evaluation, warnings);
  warnDecode(evaluation, warnings);
  warnReplicatedCaches(evaluation, warnings);
  warnIdleAxes(evaluation, warnings);
  warnNarrowStream(evaluation, warnings);
  warnTiers(evaluation, warnings);
  warnSources(evaluation, warnings);
}
