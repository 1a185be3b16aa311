//===- PipelineText.cpp - A pipeline for a terminal and as JSON -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipelineText.h"

#include "autopar/Support/TextTables.h"
#include "autopar/Write/Phrases.h"

#include "autopar/Support/Text.h"

#include <cmath>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

using Pipeline = Report::Pipeline;

static double gainOfBalance(const Pipeline &pipeline) {
  auto equal = static_cast<double>(pipeline.equalCountsPs);
  auto heaviest = static_cast<double>(pipeline.partition.heaviestPs());
  return equal > 0 ? 1 - heaviest / equal : 0;
}

static std::string transferTable(const Pipeline &pipeline) {
  constexpr size_t mostRows = 6;
  TextTable table("lrlr");
  table.add({"transfer of a microbatch", "bytes", "over", "time"});
  size_t rows = std::min(pipeline.transfers.size(), mostRows);
  for (size_t i = 0; i < rows; ++i) {
    const Report::Transfer &transfer = pipeline.transfers[i];
    table.add({"stage " + std::to_string(transfer.fromStage) + " to " +
                   std::to_string(transfer.toStage),
               formatBytes(transfer.bytes),
               transfer.tier.empty() ? "one device" : transfer.tier,
               formatTime(transfer.timeUs)});
  }
  size_t more = pipeline.transfers.size() - rows;
  std::string text = rows == 0 ? "" : table.str();
  return more == 0 ? text : text + "  and " + std::to_string(more) + " more\n";
}

/// Cuts the bar of a picture's line, which ends at column 80, to a narrower
/// terminal.
static std::string withBarCut(std::string line) {
  constexpr size_t pictureWidth = 80;
  size_t columns = std::min(textWidth() - 2, pictureWidth),
         bar = line.find('#');
  if (bar == std::string::npos || columns == pictureWidth)
    return line;
  size_t length = line.size() - 1 - bar,
         room = columns - std::min(columns - 1, bar),
         cut = std::max<size_t>(1, length * room / (pictureWidth - bar));
  return line.erase(bar + cut, length - cut);
}

std::string autopar::writing::pipelineText(const Pipeline &pipeline) {
  const StagePartition &partition = pipeline.partition;
  const PipelineTimeline &timeline = pipeline.timeline;
  std::string shape = countOf(partition.stages, "stage");
  if (partition.interleave > 1)
    shape += " x " + std::to_string(partition.interleave);
  std::string text =
      "\nPipeline (" + std::string(nameOf(timeline.kind)) + ", " + shape +
      ", microbatches: " + formatInteger(timeline.microbatches) + ")\n";
  std::string picture = drawStages(partition);
  for (size_t begin = 0; begin < picture.size();) {
    size_t end = picture.find('\n', begin) + 1;
    text += "  " + withBarCut(picture.substr(begin, end - begin));
    begin = end;
  }
  double gain = gainOfBalance(pipeline);
  if (partition.stages > 1)
    text += wrapText("  ",
                     "the heaviest stage takes " +
                         formatNumber(std::round(std::fabs(gain) * 1000) / 10) +
                         (gain < 0 ? "% more" : "% less") +
                         " time than with equal counts of layers");
  text += transferTable(pipeline);
  double bubble = timeline.bubbleFraction;
  std::string rounds = pipeline.rounds == 1
                           ? ""
                           : " for " + std::to_string(pipeline.rounds) +
                                 " steps, of which the report shows the last";
  return text +
         wrapText("  ", "makespan " +
                            formatTime(toMicroseconds(timeline.makespanPs)) +
                            rounds + "; devices idle for " +
                            formatNumber(std::round(bubble * 1000) / 10) +
                            "% of it. Times of stages are per microbatch, "
                            "their memory is without temporaries.");
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

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
          {"gain_over_equal_counts", gainOfBalance(pipeline)},
          {"per_stage", std::move(stages)},
          {"transfers", std::move(transfers)}};
}
