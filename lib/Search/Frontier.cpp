//===- Frontier.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/Frontier.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::schedule;
using namespace autopar::search;

bool Candidate::isBefore(const Candidate &other) const {
  auto place = [](const Candidate &one) {
    return std::tie(one.sizes, one.choice, one.order, one.batch,
                    one.microbatches, one.interleave, one.schedule);
  };
  return place(*this) < place(other);
}

/// Returns the first step of the staircase that costs more than `cost`.
static auto findCostlier(const std::vector<Candidate> &steps, double cost) {
  return std::upper_bound(
      steps.begin(), steps.end(), cost,
      [](double cost, const Candidate &step) { return cost < step.cost; });
}

bool Frontier::beats(const Candidate &candidate) const {
  auto costlier = findCostlier(steps, candidate.cost);
  if (costlier == steps.begin())
    return false;
  const Candidate &best = *std::prev(costlier);
  if (best.tokensPerS != candidate.tokensPerS)
    return best.tokensPerS > candidate.tokensPerS;
  return best.cost < candidate.cost || !candidate.isBefore(best);
}

bool Frontier::add(const Candidate &candidate) {
  if (beats(candidate))
    return false;
  // The candidate beats those steps that cost at least as much and have at most
  // its rate; they follow each other.
  auto first = std::lower_bound(
      steps.begin(), steps.end(), candidate.cost,
      [](const Candidate &step, double cost) { return step.cost < cost; });
  auto last = std::find_if(first, steps.end(), [&](const Candidate &step) {
    return step.tokensPerS > candidate.tokensPerS;
  });
  steps.insert(steps.erase(first, last), candidate);
  return true;
}

void Frontier::add(const Frontier &other) {
  for (const Candidate &candidate : other.steps)
    add(candidate);
}
