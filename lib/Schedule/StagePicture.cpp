//===- StagePicture.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace autopar;
using namespace autopar::schedule;

namespace {

constexpr size_t pictureWidth = 80, longestLayers = 36;
using Row = std::array<std::string, 4>;

} // namespace

static std::string rangesOf(const StagePartition &partition, int64_t device) {
  std::vector<std::string> parts;
  for (int64_t stage : partition.stagesOf(device))
    parts.push_back(rangeText(partition.ranges[stage]));
  std::string text = join(parts, ", ");
  if (text.size() <= longestLayers)
    return text;
  return text.substr(0, longestLayers - 3) + "...";
}

/// Pads `text` with spaces to `width` characters, on the left if `right`, so
/// that the text is aligned to the right.
static std::string pad(const std::string &text, size_t width, bool right) {
  std::string spaces(width - std::min(width, text.size()), ' ');
  return right ? spaces + text : text + spaces;
}

static std::string barOf(Picoseconds time, Picoseconds longest, size_t width) {
  if (longest == 0)
    return "";
  double part = static_cast<double>(time) / static_cast<double>(longest);
  return std::string(static_cast<size_t>(std::lround(part * double(width))),
                     '#');
}

static std::string verdictOf(const StagePartition &partition) {
  if (partition.stages == 1)
    return "";
  double heaviest = toMicroseconds(partition.heaviestPs());
  std::string text = "heaviest: stage " + std::to_string(partition.heaviest) +
                     ", " + formatTime(heaviest) + "; " +
                     formatTime(toMicroseconds(partition.aboveSecondPs)) +
                     " above the next, " +
                     formatTime(partition.aboveMeanPs / 1e6) +
                     " above the mean\n";
  if (partition.optimal())
    return text + "optimal: no split has a lighter heaviest stage\n";
  return text + "not proved optimal: within " +
         formatNumber(std::ceil(partition.gap() * 1e4) / 100) +
         "% of the lower bound " +
         formatTime(toMicroseconds(partition.lowerBoundPs)) + "\n";
}

std::string autopar::schedule::drawStages(const StagePartition &partition) {
  std::vector<Row> rows = {{"stage", "layers", "time", "memory"}};
  for (int64_t d = 0; d < partition.stages; ++d) {
    const LayerCost &device = partition.devices[d];
    rows.push_back({std::to_string(d), rangesOf(partition, d),
                    formatTime(toMicroseconds(device.timePs)),
                    formatBytes(device.memoryBytes)});
  }
  std::array<size_t, 4> widths = {};
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  size_t used = 0;
  for (size_t width : widths)
    used += width + 2;
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i)
      line += pad(rows[r][i], widths[i], i != 1) + "  ";
    if (r > 0)
      line += barOf(partition.devices[r - 1].timePs, partition.heaviestPs(),
                    pictureWidth - used);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + verdictOf(partition);
}
