//===- EvenRounds.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvenOut.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

namespace {

/// A split of layers, described by the number of layers of each range.
class Rounds {
public:
  Rounds(const StagingProblem &problem, const StagePartition &partition,
         int64_t memoryLimit)
      : problem(problem), timeLimit(partition.heaviestPs()),
        memoryLimit(memoryLimit), partition(partition),
        layerTime(timeOfEach(problem)), order(partition.ranges.size()) {
    times.reserve(problem.layers.size() + 1);
    bytes.reserve(problem.layers.size() + 1);
    for (const LayerCost &layer : problem.layers) {
      times.push_back(times.back() + layer.timePs);
      bytes.push_back(bytes.back() + layer.memoryBytes);
    }
    measure(partition.ranges, current);
  }

  void run();
  const std::vector<LayerRange> &result() const { return partition.ranges; }

private:
  /// The largest number of ranges that are visited, so that large problems end.
  static constexpr int64_t mostLooks = 4'000'000;

  struct Measure {
    std::vector<LayerCost> devices;
    std::vector<Picoseconds> ranges;
    /// The objective that evening out minimises: the sum of the squares of the
    /// ranges' times.
    double squares = 0;
  };

  void measure(const std::vector<LayerRange> &ranges, Measure &measure);
  /// Returns whether moving a layer may help. Layers that are alike move only
  /// to a range that stays below the range that they leave.
  bool mayHelp(int64_t from, int64_t to) const {
    return layerTime == 0 ||
           current.ranges[to] + layerTime < current.ranges[from];
  }
  bool move(int64_t from, int64_t to);
  bool improve();

  const StagingProblem &problem;
  Picoseconds timeLimit;
  int64_t memoryLimit;
  StagePartition partition;
  /// The time of any layer that may move, in ps; 0 if layers differ.
  Picoseconds layerTime;
  std::vector<Picoseconds> times{0};
  std::vector<int64_t> bytes{0};
  LongestFirst order;
  Measure current, tried;
  std::vector<LayerRange> moved;
  int64_t looks = 0;
};

} // namespace

void Rounds::measure(const std::vector<LayerRange> &ranges, Measure &measure) {
  auto count = static_cast<int64_t>(ranges.size());
  int64_t device = 0;
  looks += count;
  measure.devices.assign(partition.stages, LayerCost());
  measure.ranges.clear();
  measure.squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    LayerCost load = {times[ranges[i].end] - times[ranges[i].begin],
                      bytes[ranges[i].end] - bytes[ranges[i].begin]};
    if (i == 0)
      add(problem.embedding, load);
    if (i + 1 == count)
      add(problem.head, load);
    add(load, measure.devices[device]);
    if (++device == partition.stages)
      device = 0;
    measure.ranges.push_back(load.timePs);
    auto time = static_cast<double>(load.timePs);
    measure.squares += time * time;
  }
}

/// Tries to move a layer of a device from its range `from` to its range `to`;
/// the ranges in between keep their numbers of layers. Returns whether it did.
bool Rounds::move(int64_t from, int64_t to) {
  moved = partition.ranges;
  int64_t step = from < to ? -1 : 1;
  for (int64_t i = std::min(from, to); i < std::max(from, to); ++i) {
    moved[i].end += step;
    moved[i + 1].begin += step;
  }
  measure(moved, tried);
  bool fits = std::all_of(
      tried.devices.begin(), tried.devices.end(), [&](const LayerCost &device) {
        return device.timePs <= timeLimit && device.memoryBytes <= memoryLimit;
      });
  if (!fits || tried.squares >= current.squares)
    return false;
  std::swap(partition.ranges, moved);
  std::swap(current, tried);
  return true;
}

/// Shortens the longest range that can be shortened. Returns whether there was
/// one.
bool Rounds::improve() {
  const std::vector<int64_t> &givers =
      order.sort([&](int64_t range) { return current.ranges[range]; });
  auto count = static_cast<int64_t>(partition.ranges.size());
  for (int64_t from : givers) {
    if (partition.ranges[from].end - partition.ranges[from].begin == 1)
      continue;
    for (int64_t to = from % partition.stages; to < count;
         to += partition.stages)
      if (to != from && mayHelp(from, to) && looks < mostLooks &&
          move(from, to))
        return true;
  }
  return false;
}

void Rounds::run() {
  while (improve()) {
  }
}

std::vector<LayerRange>
autopar::schedule::evenRounds(const StagingProblem &problem,
                              int64_t memoryLimit,
                              const StagePartition &partition) {
  if (partition.interleave == 1)
    return partition.ranges;
  Rounds rounds(problem, partition, memoryLimit);
  rounds.run();
  return rounds.result();
}
