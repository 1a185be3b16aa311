//===- PipelineJson.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonParts.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

using Pipeline = Report::Pipeline;

static json writeStage(const Pipeline &pipeline, int64_t device) {
  const StagePartition &partition = pipeline.partition;
  const DeviceTimeline &timeline = pipeline.timeline.devices[device];
  json layers = json::array();
  for (int64_t stage : partition.stagesOf(device)) {
    const LayerRange &range = partition.ranges[stage];
    layers.push_back(range.isEmpty() ? json::array()
                                     : json({range.begin, range.end - 1}));
  }
  return {{"layers", std::move(layers)},
          {"time_us", toMicroseconds(partition.devices[device].timePs)},
          {"memory_bytes", partition.devices[device].memoryBytes},
          {"busy_time_us", toMicroseconds(timeline.busyPs)},
          {"idle_time_us", toMicroseconds(timeline.idlePs)},
          {"peak_in_flight", timeline.peakInFlight}};
}

static json writeTransfer(const Report::Transfer &transfer) {
  return {{"from", transfer.fromStage},
          {"to", transfer.toStage},
          {"bytes", transfer.bytes},
          {"tier", transfer.tier.empty() ? json() : json(transfer.tier)},
          {"time_us", transfer.timeUs}};
}

json autopar::writing::writeSchedule(const Pipeline &pipeline) {
  const StagePartition &partition = pipeline.partition;
  const PipelineTimeline &timeline = pipeline.timeline;
  json stages = json::array(), transfers = json::array();
  for (int64_t device = 0; device < partition.stages; ++device)
    stages.push_back(writeStage(pipeline, device));
  for (const Report::Transfer &transfer : pipeline.transfers)
    transfers.push_back(writeTransfer(transfer));
  return {{"kind", nameOf(timeline.kind)},
          {"stages", partition.stages},
          {"interleave", partition.interleave},
          {"microbatches", timeline.microbatches},
          {"steps", pipeline.rounds},
          {"makespan_time_us", toMicroseconds(timeline.makespanPs)},
          {"bubble_fraction", timeline.bubbleFraction},
          {"heaviest_stage", partition.heaviest},
          {"heaviest_time_us", toMicroseconds(partition.heaviestPs())},
          {"above_next_time_us", toMicroseconds(partition.aboveSecondPs)},
          {"above_mean_time_us", partition.aboveMeanPs / 1e6},
          {"optimal", partition.optimal()},
          {"gap", partition.gap()},
          {"equal_counts_time_us", toMicroseconds(pipeline.equalCountsPs)},
          {"gain_over_equal_counts", pipeline.gainOverEqualCounts()},
          {"per_stage", std::move(stages)},
          {"transfers", std::move(transfers)}};
}
