//===- ReadTimes.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Whether two collectives print as one row: same kind, axes, buffer and
/// layer. Those of the model itself, such as the logits' gather, stay alone.
static bool sameRow(const CostProgram &program, const CollectiveReading &a,
                    const CollectiveReading &b) {
  return !program.isModel(a.record->layer) &&
         a.record->layer == b.record->layer &&
         a.record->kind == b.record->kind && a.record->axes == b.record->axes &&
         a.record->byNode == b.record->byNode &&
         (!program.trains() || a.record->ofWeights == b.record->ofWeights) &&
         a.record->ofInputs == b.record->ofInputs && a.bytes == b.bytes;
}

/// Rounded: parts of a byte go nowhere.
static std::vector<std::pair<std::string, int64_t>>
bytesByTier(const CollectiveReading &cost) {
  std::vector<std::pair<std::string, int64_t>> bytes;
  if (cost.route->overlaps)
    for (const RouteLevel &level : cost.route->levels)
      bytes.emplace_back(level.tier->name,
                         std::llround(cost.bytes.real() * level.wirePerByte));
  return bytes;
}

static void addRow(Reading &reading, const CollectiveReading &cost) {
  const Collective &record = *cost.record;
  auto &rows = reading.report.communication.collectives;
  Checked count = cost.count;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!sameRow(reading.program,
                 reading.collectives[reading.rowMembers[i].front()], cost))
      continue;
    rows[i].count = reading.narrow(count + rows[i].count, "collectives");
    rows[i].name += ", " + record.name;
    reading.rowMembers[i].push_back(reading.collectives.size());
    return;
  }
  Report::CollectiveRow row;
  row.kind = nameOf(record.kind);
  row.name = record.name;
  for (AxisId axis : record.axes)
    row.axes.push_back(reading.program.axes[axis]);
  row.groupSize = cost.groupSize;
  row.count = cost.count;
  row.bytes = reading.narrow(cost.bytes, "bytes of a collective");
  row.wireBytesPerDevice = reading.narrow(cost.nodes->wireBytes, "wire bytes");
  row.wireBytesByTier = bytesByTier(cost);
  bool leavesNode = cost.route->tier != &reading.pool().tiers.front();
  if (cost.route->byNode && leavesNode)
    row.nodesPerToken = cost.route->levels.back().copies;
  row.timeUs = cost.timeUs;
  row.section = reading.program.layers[record.layer].section;
  if (record.routed)
    row.purpose = TrainingReport::Exposure::Purpose::dispatch;
  else if (record.ofInputs)
    row.purpose = TrainingReport::Exposure::Purpose::inputs;
  else if (record.ofWeights)
    row.purpose = record.kind == CollectiveKind::all_gather
                      ? TrainingReport::Exposure::Purpose::gather
                      : TrainingReport::Exposure::Purpose::reduction;
  rows.push_back(std::move(row));
  reading.rowMembers.push_back({reading.collectives.size()});
}

void autopar::report::readCollectives(Reading &reading) {
  const CostProgram &program = reading.program;
  for (size_t i = 0; i < program.collectives.size(); ++i) {
    CollectiveReading cost;
    cost.record = &program.collectives[i];
    cost.nodes = &reading.strategy.collectives[i];
    cost.groupSize =
        reading.narrow(cost.nodes->groupSize, "devices of a group");
    cost.count = reading.narrow(reading.whole(cost.nodes->count) *
                                    reading.passesOf(cost.record->layer),
                                "collectives");
    cost.bytes = reading.whole(cost.nodes->bytes);
    if (cost.groupSize <= 1 || cost.count == 0 || cost.bytes.isZero())
      continue;
    cost.route = &reading.values.route(cost.nodes->link);
    cost.layout = reading.groupOf(cost.record->axes);
    cost.timeUs = reading.microseconds(cost.nodes->timePs);
    addRow(reading, cost);
    reading.collectives.push_back(std::move(cost));
  }
  reading.report.communication.bytesPerDevice =
      reading.narrow(reading.strategy.total.wireBytes, "communication bytes");
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

Checked autopar::report::tokensOf(const Workload &workload) {
  bool isDecode = workload.phase == Phase::decode;
  return Checked(workload.batch) * (isDecode ? 1 : workload.query);
}

const char *autopar::report::largestPart(const Report &report) {
  const auto &latency = report.latency;
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

/// All FLOPs, all reads of weights and caches, all communication, each alone
/// and at peak.
static void readBounds(Reading &reading) {
  auto &bounds = reading.report.latency.bounds;
  for (const LaunchNodes &launch : reading.strategy.launches) {
    Reading::LaunchPeak peak = reading.peakOf(launch);
    double count = reading.countOf(launch).real();
    bounds.computeTimeUs += peak.computeUs * count;
    bounds.kernelsTimeUs += std::max(peak.computeUs, peak.memoryUs) * count;
  }
  for (const CollectiveReading &cost : reading.collectives)
    bounds.communicationTimeUs +=
        reading.real(cost.nodes->boundUs) * static_cast<double>(cost.count);
  bounds.weightsAndKvReadBytes = reading.narrow(
      reading.strategy.total.keptReadBytes, "bytes of weights and KV read");
  bounds.memoryTimeUs = static_cast<double>(bounds.weightsAndKvReadBytes) /
                        reading.pool().chip.memoryBandwidth.value * 1e6;
}

void autopar::report::readLatency(Reading &reading) {
  const TotalNodes &total = reading.strategy.total;
  auto &latency = reading.report.latency;
  latency.computeTimeUs = reading.microseconds(total.computePs);
  latency.memoryTimeUs = reading.microseconds(total.memoryPs);
  latency.communicationTimeUs = reading.microseconds(total.communicationPs);
  constexpr double picosecondsPerUs = 1e6;
  latency.overheadTimeUs =
      (reading.whole(total.floorPs) + reading.whole(total.hostPs)).real() /
      picosecondsPerUs;
  latency.hostTimeUs =
      (reading.whole(total.layersPs) + reading.whole(total.hostPs)).real() /
      picosecondsPerUs;
  latency.stepTimeUs = reading.microseconds(total.stepPs);
  latency.kernelLaunches = reading.narrow(total.launches, "kernel launches");
  readBounds(reading);
  finishLatency(reading);
}

void autopar::report::finishLatency(Reading &reading) {
  auto &latency = reading.report.latency;
  latency.bound = largestPart(reading.report);
  Checked tokens = tokensOf(reading.workload);
  if (latency.stepTimeUs > 0)
    reading.report.tokensPerS = tokens.real() / latency.stepTimeUs * 1e6;
}
