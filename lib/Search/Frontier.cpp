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

bool Candidate::isBefore(const Candidate &other) const {
  auto place = [](const Candidate &one) {
    return std::tie(one.sizes, one.choice, one.order, one.batch,
                    one.microbatches);
  };
  return place(*this) < place(other);
}

/// The first step that takes longer.
static auto findLonger(const std::vector<Candidate> &steps, double timeUs) {
  return std::upper_bound(
      steps.begin(), steps.end(), timeUs,
      [](double us, const Candidate &step) { return us < step.timeUs; });
}

bool Frontier::beats(const Candidate &candidate) const {
  auto longer = findLonger(steps, candidate.timeUs);
  if (longer == steps.begin())
    return false;
  const Candidate &best = *std::prev(longer);
  if (best.tokensPerS != candidate.tokensPerS)
    return best.tokensPerS > candidate.tokensPerS;
  return best.timeUs < candidate.timeUs || !candidate.isBefore(best);
}

bool Frontier::add(const Candidate &candidate) {
  if (beats(candidate))
    return false;
  // Those that it beats take as long or longer, and do less.
  auto first = std::lower_bound(
      steps.begin(), steps.end(), candidate.timeUs,
      [](const Candidate &step, double us) { return step.timeUs < us; });
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
