//===- LoadLimit.cpp - Capacity limits of expert loads --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/LoadLimit.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;

static double sumOf(const std::vector<double> &tokens) {
  return std::accumulate(tokens.begin(), tokens.end(), 0.0);
}

std::vector<double> autopar::placement::workedTokens(std::vector<double> tokens,
                                                     const LoadLimit &limit) {
  double most =
      limit.factor * sumOf(tokens) / static_cast<double>(tokens.size());
  for (double &own : tokens)
    own = limit.padded ? most : std::min(own, most);
  return tokens;
}

double autopar::placement::keptShare(const std::vector<double> &tokens,
                                     const LoadLimit &limit) {
  double all = sumOf(tokens);
  if (all <= 0)
    return 1;
  return sumOf(workedTokens(tokens, {limit.factor, /*padded=*/false})) / all;
}
