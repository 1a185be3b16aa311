//===- TokenSpread.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/TokenSpread.h"

#include <algorithm>
#include <map>
#include <utility>

using namespace autopar;
using namespace autopar::cost;

/// Returns for each group of experts, by number, how much of it lies on the
/// ranks `some`, in units of 1/ranks of an expert.
static std::map<int64_t, int64_t> partsOf(const TokenSpread &spread,
                                          const std::vector<int64_t> &some) {
  std::map<int64_t, int64_t> parts;
  int64_t size = spread.experts * spread.ranks / spread.groups;
  for (int64_t rank : some) {
    int64_t begin = rank * spread.experts, end = begin + spread.experts;
    while (begin < end) {
      int64_t group = begin / size;
      int64_t next = std::min(end, (group + 1) * size);
      parts[group] += next - begin;
      begin = next;
    }
  }
  return parts;
}

/// Returns the probability that `drawn` experts out of `all` miss all of `some`
/// experts: C(all - some, drawn) / C(all, drawn).
static double missOf(int64_t all, int64_t some, int64_t drawn) {
  double miss = 1;
  for (int64_t i = 0; i < drawn && miss > 0; ++i)
    miss *= static_cast<double>(std::max<int64_t>(0, all - some - i)) /
            static_cast<double>(all - i);
  return miss;
}

/// Returns the probability that `drawn` experts out of `all` miss `parts` units
/// of 1/`of` of an expert. If copies of experts are on other ranks, the mean
/// number of experts is no integer, and the results for the two nearest
/// integers are averaged.
static double missOf(int64_t all, int64_t parts, int64_t of, int64_t drawn) {
  int64_t some = parts / of;
  double rest = static_cast<double>(parts % of) / static_cast<double>(of);
  double miss = missOf(all, some, drawn);
  return rest == 0 ? miss : miss + rest * (missOf(all, some + 1, drawn) - miss);
}

double autopar::cost::reachOf(const TokenSpread &spread,
                              const std::vector<int64_t> &some) {
  // The probability of each pair of the number of groups kept so far and the
  // part of these groups that lies on the ranks.
  std::map<std::pair<int64_t, int64_t>, double> chances = {{{0, 0}, 1.0}};
  int64_t left = spread.groups;
  for (auto [group, part] : partsOf(spread, some)) {
    std::map<std::pair<int64_t, int64_t>, double> next;
    for (auto [state, chance] : chances) {
      auto [kept, covered] = state;
      double keeps =
          static_cast<double>(spread.kept - kept) / static_cast<double>(left);
      if (keeps > 0)
        next[{kept + 1, covered + part}] += chance * keeps;
      if (keeps < 1)
        next[state] += chance * (1 - keeps);
    }
    chances = std::move(next);
    --left;
  }
  int64_t all = spread.kept * (spread.experts / spread.groups);
  double reach = 0;
  for (auto [state, chance] : chances)
    reach +=
        chance * (1 - missOf(all, state.second, spread.ranks, spread.topK));
  return reach;
}
