//===- ExpertCapacity.cpp - Tokens that experts accept and drop -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedIteration.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;

std::vector<double>
autopar::evaluation::droppedShares(const EvaluatedIteration &iteration) {
  const CostProgram &program = iteration.parts.program;
  std::vector<double> shares;
  if (program.placement)
    for (const PlacedExperts::Layer &layer : program.placement->layers)
      shares.push_back(
          1 - keptShare(layer.loads.tokens, *program.placement->limit));
  if (program.placement || iteration.routedTokens == 0)
    return shares;
  double taken = static_cast<double>(program.capacity->experts) *
                 static_cast<double>(iteration.expertCapacityTokens);
  double routed = static_cast<double>(iteration.routedTokens);
  return {1 - std::min(1.0, taken / routed)};
}

std::optional<TrainingReport::Capacity>
autopar::evaluation::expertCapacityOf(const EvaluatedIteration &iteration) {
  const auto &capacity = iteration.parts.program.capacity;
  if (!capacity)
    return std::nullopt;
  std::vector<double> shares = droppedShares(iteration);
  double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return TrainingReport::Capacity{
      capacity->factor(), capacity->padded, iteration.routedTokens,
      iteration.expertCapacityTokens,
      sum / static_cast<double>(std::max<size_t>(1, shares.size()))};
}
