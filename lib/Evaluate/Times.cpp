//===- Times.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedStep.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Calls of collectives
//===----------------------------------------------------------------------===//

const CollectiveCurve *CollectiveCall::curve() const {
  if (route->modelled)
    return nullptr;
  auto curves = route->tier->curves.find(record->kind);
  if (curves == route->tier->curves.end() || curves->second.empty())
    return nullptr;
  auto near = curves->second.lower_bound(groupSize);
  if (near == curves->second.end())
    --near;
  return &near->second;
}

/// Returns whether two collectives are printed as one row: they have the same
/// kind, axes, buffer and layer. Collectives outside of layers, such as the
/// gather of the logits, keep a row of their own.
static bool sameRow(const CostProgram &program, const CollectiveCall &a,
                    const CollectiveCall &b) {
  return !program.isModel(a.record->layer) &&
         a.record->layer == b.record->layer &&
         a.record->kind == b.record->kind && a.record->axes == b.record->axes &&
         a.record->byNode == b.record->byNode &&
         (!program.trains() || a.record->ofWeights == b.record->ofWeights) &&
         a.record->ofInputs == b.record->ofInputs && a.bytes == b.bytes;
}

/// Returns the bytes that are sent over each tier, rounded to integers.
static std::vector<std::pair<std::string, int64_t>>
bytesByTier(const CollectiveCall &cost) {
  std::vector<std::pair<std::string, int64_t>> bytes;
  if (cost.route->overlaps)
    for (const RouteLevel &level : cost.route->levels)
      bytes.emplace_back(level.tier->name,
                         std::llround(cost.bytes.real() * level.wirePerByte));
  return bytes;
}

static void addRow(const PricedStep &step, const CollectiveCall &cost,
                   Narrowing &narrow, CollectiveCalls &calls) {
  const Collective &record = *cost.record;
  auto &rows = calls.communication.collectives;
  Checked count = cost.count;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!sameRow(step.program, calls.all[calls.membersOfRow[i].front()], cost))
      continue;
    rows[i].count = narrow(count + rows[i].count, "collectives");
    rows[i].name += ", " + record.name;
    calls.membersOfRow[i].push_back(calls.all.size());
    return;
  }
  Report::CollectiveRow row;
  row.kind = nameOf(record.kind);
  row.name = record.name;
  for (AxisId axis : record.axes)
    row.axes.push_back(step.program.axes[axis]);
  row.groupSize = cost.groupSize;
  row.count = cost.count;
  row.bytes = narrow(cost.bytes, "bytes of a collective");
  row.wireBytesPerDevice = narrow(cost.nodes->wireBytes, "wire bytes");
  row.wireBytesByTier = bytesByTier(cost);
  bool leavesNode = cost.route->tier != &step.pool().tiers.front();
  if (cost.route->byNode && leavesNode)
    row.nodesPerToken = cost.route->levels.back().copies;
  row.timeUs = cost.timeUs;
  row.section = step.program.layers[record.layer].section;
  if (record.routed)
    row.purpose = TrainingReport::Exposure::Purpose::dispatch;
  else if (record.ofInputs)
    row.purpose = TrainingReport::Exposure::Purpose::inputs;
  else if (record.ofWeights)
    row.purpose = record.kind == CollectiveKind::all_gather
                      ? TrainingReport::Exposure::Purpose::gather
                      : TrainingReport::Exposure::Purpose::reduction;
  rows.push_back(std::move(row));
  calls.membersOfRow.push_back({calls.all.size()});
}

Result<CollectiveCalls> autopar::evaluation::callsOf(const PricedStep &step) {
  const CostProgram &program = step.program;
  Narrowing narrow(step);
  CollectiveCalls calls;
  for (size_t i = 0; i < program.collectives.size(); ++i) {
    CollectiveCall cost;
    cost.record = &program.collectives[i];
    cost.nodes = &step.strategy.collectives[i];
    cost.groupSize = narrow(cost.nodes->groupSize, "devices of a group");
    cost.count = narrow(step.whole(cost.nodes->count) *
                            step.passesOf(cost.record->layer),
                        "collectives");
    cost.bytes = step.whole(cost.nodes->bytes);
    if (cost.groupSize <= 1 || cost.count == 0 || cost.bytes.isZero())
      continue;
    cost.route = &step.values.route(cost.nodes->link);
    cost.layout = step.groupOf(cost.record->axes);
    cost.timeUs = step.microseconds(cost.nodes->timePs);
    addRow(step, cost, narrow, calls);
    calls.all.push_back(std::move(cost));
  }
  calls.communication.bytesPerDevice =
      narrow(step.strategy.total.wireBytes, "communication bytes");
  return narrow.finish(std::move(calls));
}

//===----------------------------------------------------------------------===//
// Times of the step
//===----------------------------------------------------------------------===//

Checked autopar::evaluation::tokensOf(const Workload &workload) {
  bool isDecode = workload.phase == Phase::decode;
  return Checked(workload.batch) * (isDecode ? 1 : workload.query);
}

const char *autopar::evaluation::largestPart(const Report::Latency &latency) {
  std::pair<double, const char *> parts[] = {
      {latency.computeTimeUs, "compute"},
      {latency.memoryTimeUs, "memory"},
      {latency.communicationTimeUs, "communication"},
      {latency.overheadTimeUs, "overhead"}};
  auto *largest = std::max_element(
      std::begin(parts), std::end(parts),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  return largest->second;
}

/// Returns bounds of the step: the time of all FLOPs, of all reads of weights
/// and caches, and of all communication, each alone and at peak rates.
static Report::Latency::Bounds
boundsOf(const PricedStep &step, const std::vector<CollectiveCall> &calls,
         Narrowing &narrow) {
  Report::Latency::Bounds bounds;
  for (const LaunchNodes &launch : step.strategy.launches) {
    PricedStep::LaunchPeak peak = step.peakOf(launch);
    double count = step.countOf(launch).real();
    bounds.computeTimeUs += peak.computeUs * count;
    bounds.kernelsTimeUs += std::max(peak.computeUs, peak.memoryUs) * count;
  }
  for (const CollectiveCall &cost : calls)
    bounds.communicationTimeUs +=
        step.real(cost.nodes->boundUs) * static_cast<double>(cost.count);
  bounds.weightsAndKvReadBytes =
      narrow(step.strategy.total.keptReadBytes, "bytes of weights and KV read");
  bounds.memoryTimeUs = static_cast<double>(bounds.weightsAndKvReadBytes) /
                        step.pool().chip.memoryBandwidth.value * 1e6;
  return bounds;
}

Result<Report::Latency>
autopar::evaluation::latencyOf(const PricedStep &step,
                               const std::vector<CollectiveCall> &calls) {
  const TotalNodes &total = step.strategy.total;
  Narrowing narrow(step);
  Report::Latency latency;
  latency.computeTimeUs = step.microseconds(total.computePs);
  latency.memoryTimeUs = step.microseconds(total.memoryPs);
  latency.communicationTimeUs = step.microseconds(total.communicationPs);
  constexpr double picosecondsPerUs = 1e6;
  latency.overheadTimeUs =
      (step.whole(total.floorPs) + step.whole(total.hostPs)).real() /
      picosecondsPerUs;
  latency.hostTimeUs =
      (step.whole(total.layersPs) + step.whole(total.hostPs)).real() /
      picosecondsPerUs;
  latency.stepTimeUs = step.microseconds(total.stepPs);
  latency.kernelLaunches = narrow(total.launches, "kernel launches");
  latency.bounds = boundsOf(step, calls, narrow);
  return narrow.finish(std::move(latency));
}

Result<StepWork> autopar::evaluation::workOf(const PricedStep &step) {
  Result<Report::Flops> flops = flopsOf(step);
  if (!flops)
    return flops.error();
  Result<CollectiveCalls> calls = callsOf(step);
  if (!calls)
    return calls.error();
  Result<Report::Latency> latency = latencyOf(step, calls->all);
  if (!latency)
    return latency.error();
  Result<StepBreakdown> breakdown = breakdownOf(step, calls->all);
  if (!breakdown)
    return breakdown.error();
  return StepWork{*flops, std::move(*calls), std::move(*latency),
                  std::move(*breakdown)};
}
