//===- EqualCounts.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

namespace {

/// Splits layers into ranges of equal length, some of which have one more
/// layer.
class EqualCounts {
public:
  explicit EqualCounts(const StagingProblem &problem)
      : problem(problem), ranges(problem.stages * problem.interleave),
        length(static_cast<int64_t>(problem.layers.size()) / ranges),
        longer(static_cast<int64_t>(problem.layers.size()) % ranges), sums(1) {
    for (const LayerCost &layer : problem.layers)
      sums.push_back(sums.back() + layer.timePs);
  }

  /// Returns the smallest time of the heaviest device over all choices of the
  /// longer ranges. It uses dynamic programming over the number of longer
  /// ranges so far.
  Picoseconds best() const {
    std::vector<Picoseconds> least(longer + 1, never);
    least[0] = 0;
    for (int64_t range = 0; range < ranges; ++range)
      for (int64_t used = longer; used >= 0; --used) {
        Picoseconds same = std::max(least[used], timeOf(range, used, 0));
        Picoseconds more =
            used > 0 ? std::max(least[used - 1], timeOf(range, used - 1, 1))
                     : never;
        least[used] = std::min(same, more);
      }
    return least[longer];
  }

  /// Returns the time of the heaviest device if the first ranges are the longer
  /// ones.
  Picoseconds firstLonger() const {
    std::vector<Picoseconds> devices(problem.stages, 0);
    for (int64_t range = 0; range < ranges; ++range)
      devices[range % problem.stages] +=
          timeOf(range, std::min(range, longer), range < longer);
    if (problem.folded) {
      std::vector<Picoseconds> stages = devices;
      for (size_t i = 0; i < devices.size(); ++i)
        devices[i] = (stages[i] + stages[stages.size() - 1 - i] + 1) / 2;
    }
    return *std::max_element(devices.begin(), devices.end());
  }

private:
  static constexpr Picoseconds never = INT64_MAX;

  /// Returns the time of range number `range` after `used` longer ranges;
  /// `more` is 1 if this range is longer itself, else 0.
  Picoseconds timeOf(int64_t range, int64_t used, int64_t more) const {
    int64_t begin = range * length + used;
    if (used > range || begin + length + more > int64_t(problem.layers.size()))
      return never;
    Picoseconds time = sums[begin + length + more] - sums[begin];
    if (range == 0)
      time += problem.embedding.timePs;
    if (range + 1 == ranges)
      time += problem.head.timePs;
    return time;
  }

  const StagingProblem &problem;
  int64_t ranges, length, longer;
  std::vector<Picoseconds> sums;
};

} // namespace

Picoseconds autopar::schedule::equalCountsTime(const StagingProblem &problem) {
  EqualCounts counts(problem);
  return problem.interleave == 1 && !problem.folded ? counts.best()
                                                    : counts.firstLonger();
}
