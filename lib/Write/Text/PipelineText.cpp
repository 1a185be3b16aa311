//===- PipelineText.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextParts.h"

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

using Pipeline = Report::Pipeline;

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

/// Cuts the bar in a line of a picture if the terminal is narrower than the
/// picture's 80 columns.
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
  double gain = pipeline.gainOverEqualCounts();
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
         wrapText("  ",
                  "the whole schedule takes " +
                      formatTime(toMicroseconds(timeline.makespanPs)) + rounds +
                      "; devices are idle for " +
                      formatNumber(std::round(bubble * 1000) / 10) +
                      "% of it. The time of a stage is for one microbatch, "
                      "its memory is without temporaries.");
}
