//===- FoldedStages.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldedStages.h"

#include "EvenOut.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::schedule;

namespace {

/// Sums of the loads of layers over any range, from prefix sums.
class Sums {
public:
  explicit Sums(const StagingProblem &problem) : problem(problem), all(1) {
    for (const LayerCost &layer : problem.layers) {
      all.push_back(all.back());
      add(layer, all.back());
    }
  }

  /// Returns for each device half the time of its two stages and all of their
  /// memory.
  std::vector<LayerCost>
  devicesOf(const std::vector<LayerRange> &ranges) const {
    std::vector<LayerCost> stages(ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i)
      stages[i] = {all[ranges[i].end].timePs - all[ranges[i].begin].timePs,
                   all[ranges[i].end].memoryBytes -
                       all[ranges[i].begin].memoryBytes};
    add(problem.embedding, stages.front());
    add(problem.head, stages.back());
    std::vector<LayerCost> devices = stages;
    for (size_t i = 0; i < devices.size(); ++i) {
      add(stages[stages.size() - 1 - i], devices[i]);
      devices[i].timePs = (devices[i].timePs + 1) / 2;
    }
    return devices;
  }

  Picoseconds total() const {
    return all.back().timePs + problem.embedding.timePs + problem.head.timePs;
  }

private:
  const StagingProblem &problem;
  std::vector<LayerCost> all;
};

class FoldedBalancer {
public:
  FoldedBalancer(const StagingProblem &problem, int64_t memoryLimit,
                 std::vector<LayerRange> ranges)
      : sums(problem), memoryLimit(memoryLimit), ranges(std::move(ranges)),
        best(measure(this->ranges)) {}

  std::vector<LayerRange> run() {
    while (improve()) {
    }
    return std::move(ranges);
  }

private:
  /// The largest number of stages that are visited, so that large problems end.
  static constexpr int64_t mostLooks = 4'000'000;
  /// The measure of a split: the bytes above the limit, the longest time, and
  /// the sum of the squares of times.
  using Measure = std::tuple<int64_t, Picoseconds, double>;

  Measure measure(const std::vector<LayerRange> &tried) {
    looks += static_cast<int64_t>(tried.size());
    int64_t above = 0;
    Picoseconds longest = 0;
    double squares = 0;
    for (const LayerCost &device : sums.devicesOf(tried)) {
      above += std::max<int64_t>(0, device.memoryBytes - memoryLimit);
      longest = std::max(longest, device.timePs);
      auto time = static_cast<double>(device.timePs);
      squares += time * time;
    }
    return {above, longest, squares};
  }

  /// Moves the end of stage `stage` by `step` layers. Returns whether each
  /// stage still has a layer.
  static bool shift(std::vector<LayerRange> &tried, size_t stage,
                    int64_t step) {
    tried[stage].end += step;
    tried[stage + 1].begin += step;
    return tried[stage].begin < tried[stage].end &&
           tried[stage + 1].begin < tried[stage + 1].end;
  }

  /// Moves the end of stage `i` by `step` layers and that of stage `j` by
  /// `other` layers; only one end if `i` and `j` are the same. Returns whether
  /// the split was improved.
  bool move(size_t i, int64_t step, size_t j, int64_t other) {
    std::vector<LayerRange> tried = ranges;
    if (!shift(tried, i, step) || (i != j && !shift(tried, j, other)))
      return false;
    Measure measured = measure(tried);
    if (measured >= best)
      return false;
    best = measured;
    ranges = std::move(tried);
    return true;
  }

  bool improve() {
    for (size_t i = 0; i + 1 < ranges.size(); ++i)
      for (size_t j = i; j + 1 < ranges.size(); ++j)
        for (int64_t step : {1, -1})
          for (int64_t other : {1, -1})
            if (looks < mostLooks && move(i, step, j, other))
              return true;
    return false;
  }

  Sums sums;
  int64_t memoryLimit;
  std::vector<LayerRange> ranges;
  int64_t looks = 0;
  Measure best;
};

} // namespace

StagePartition
autopar::schedule::describeFolded(const StagingProblem &problem,
                                  std::vector<LayerRange> ranges) {
  Sums sums(problem);
  StagePartition result;
  result.stages = problem.stages;
  result.folded = true;
  result.devices = sums.devicesOf(ranges);
  result.ranges = std::move(ranges);
  std::vector<Picoseconds> times;
  for (const LayerCost &device : result.devices)
    times.push_back(device.timePs);
  result.heaviest =
      std::max_element(times.begin(), times.end()) - times.begin();
  result.lowerBoundPs = (sums.total() + problem.stages - 1) / problem.stages;
  result.aboveMeanPs =
      static_cast<double>(result.heaviestPs()) -
      static_cast<double>(sums.total()) / double(problem.stages);
  // The mirror device of the heaviest device takes as long as it does.
  Picoseconds next = 0;
  for (int64_t i = 0; i < problem.stages; ++i)
    if (i != result.heaviest && i != problem.stages - 1 - result.heaviest)
      next = std::max(next, times[i]);
  result.aboveSecondPs = result.heaviestPs() - next;
  return result;
}

std::vector<LayerRange>
autopar::schedule::balanceFolded(const StagingProblem &problem,
                                 int64_t memoryLimit,
                                 std::vector<LayerRange> ranges) {
  return FoldedBalancer(problem, memoryLimit, std::move(ranges)).run();
}
