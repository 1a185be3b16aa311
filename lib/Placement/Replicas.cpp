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
  /// If two experts have equal shares, the first expert is on top.
  bool operator<(const Candidate &other) const {
    return share != other.share ? share < other.share : expert > other.expert;
  }
};

} // namespace

std::vector<int64_t>
autopar::placement::replicaCounts(const std::vector<double> &loads,
                                  int64_t ranks, int64_t slots) {
  std::vector<int64_t> counts(loads.size(), 1);
  std::priority_queue<Candidate> mostLoaded;
  if (ranks > 1)
    for (size_t expert = 0; expert < loads.size(); ++expert)
      mostLoaded.push({loads[expert], expert});
  auto left = slots - static_cast<int64_t>(loads.size());
  for (; left > 0 && !mostLoaded.empty(); --left) {
    size_t expert = mostLoaded.top().expert;
    mostLoaded.pop();
    if (++counts[expert] < ranks)
      mostLoaded.push({loads[expert] / counts[expert], expert});
  }
  return counts;
}

std::vector<int64_t>
autopar::placement::thresholdCounts(const std::vector<double> &loads,
                                    int64_t ranks, int64_t slots,
                                    double threshold) {
  std::vector<int64_t> counts;
  std::vector<std::pair<double, size_t>> leastLoaded;
  for (double load : loads) {
    double needed = std::ceil(load / threshold);
    if (!(needed <= static_cast<double>(ranks)))
      return {};
    leastLoaded.push_back({load, counts.size()});
    counts.push_back(std::max<int64_t>(1, static_cast<int64_t>(needed)));
    slots -= counts.back();
  }
  std::sort(leastLoaded.begin(), leastLoaded.end());
  for (size_t i = 0; slots > 0; i = (i + 1) % leastLoaded.size())
    if (int64_t &count = counts[leastLoaded[i].second]; count < ranks) {
      ++count;
      --slots;
    }
  return slots == 0 ? counts : std::vector<int64_t>();
}

double
autopar::placement::largestReplicaLoad(const std::vector<double> &loads,
                                       const std::vector<int64_t> &counts) {
  double largest = 0;
  for (size_t expert = 0; expert < loads.size(); ++expert)
    largest = std::max(largest, loads[expert] / counts[expert]);
  return largest;
}
