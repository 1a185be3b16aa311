//===- Replicas.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replicas.h"

#include <algorithm>
#include <cmath>
#include <queue>

using namespace autopar;
using namespace autopar::placement;

namespace {

struct Candidate {
  double share;
  size_t expert;
  /// Between equal shares the first expert is on top.
  bool operator<(const Candidate &other) const {
    return share != other.share ? share < other.share : expert > other.expert;
  }
};

} // namespace

std::vector<int64_t>
autopar::placement::replicaCounts(const std::vector<double> &loads,
                                  int64_t ranks, int64_t slots) {
  std::vector<int64_t> counts(loads.size(), 1);
  std::priority_queue<Candidate> hottest;
  if (ranks > 1)
    for (size_t expert = 0; expert < loads.size(); ++expert)
      hottest.push({loads[expert], expert});
  auto left = slots - static_cast<int64_t>(loads.size());
  for (; left > 0 && !hottest.empty(); --left) {
    size_t expert = hottest.top().expert;
    hottest.pop();
    if (++counts[expert] < ranks)
      hottest.push({loads[expert] / counts[expert], expert});
  }
  return counts;
}

std::vector<int64_t>
autopar::placement::thresholdCounts(const std::vector<double> &loads,
                                    int64_t ranks, int64_t slots,
                                    double threshold) {
  std::vector<int64_t> counts;
  std::vector<std::pair<double, size_t>> coldest;
  for (double load : loads) {
    double needed = std::ceil(load / threshold);
    if (!(needed <= static_cast<double>(ranks)))
      return {};
    coldest.push_back({load, counts.size()});
    counts.push_back(std::max<int64_t>(1, static_cast<int64_t>(needed)));
    slots -= counts.back();
  }
  std::sort(coldest.begin(), coldest.end());
  for (size_t i = 0; slots > 0; i = (i + 1) % coldest.size())
    if (int64_t &count = counts[coldest[i].second]; count < ranks) {
      ++count;
      --slots;
    }
  return slots == 0 ? counts : std::vector<int64_t>();
}

double autopar::placement::hottestReplica(const std::vector<double> &loads,
                                          const std::vector<int64_t> &counts) {
  double hottest = 0;
  for (size_t expert = 0; expert < loads.size(); ++expert)
    hottest = std::max(hottest, loads[expert] / counts[expert]);
  return hottest;
}
