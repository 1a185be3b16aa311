//===- ExpertCapacity.cpp - What experts take and drop --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"
#include "Training.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

/// Which share of what is routed to the experts of a layer they drop: of each
/// layer whose loads are known, else of all, whose loads are even.
static std::vector<double> droppedShares(const Iteration &iteration) {
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

void autopar::report::readCapacity(const Iteration &iteration,
                                   TrainingReport &training) {
  const auto &capacity = iteration.parts.program.capacity;
  if (!capacity)
    return;
  std::vector<double> shares = droppedShares(iteration);
  double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  training.expertCapacity = {
      capacity->factor(), capacity->padded, iteration.routedTokens,
      iteration.expertCapacityTokens,
      sum / static_cast<double>(std::max<size_t>(1, shares.size()))};
}

static Explanation explainTaken(const TrainingReport::Capacity &capacity,
                                const ExpertCapacity &own,
                                const std::string &folder) {
  return Explanation()
      .input(folder + "factor", capacity.factor)
      .input(folder + "routed_tokens", capacity.routedTokens)
      .input("experts", own.experts)
      .from("Switch Transformers, arXiv:2101.03961, section 2.2")
      .formula("ceil(factor * routed_tokens / experts)");
}

static Explanation explainDropped(const Iteration &iteration,
                                  const TrainingReport::Capacity &capacity,
                                  const std::string &folder) {
  const CostProgram &program = iteration.parts.program;
  Explanation dropped;
  if (!program.placement)
    return dropped.input("experts", program.capacity->experts)
        .input(folder + "tokens", capacity.tokens)
        .input(folder + "routed_tokens", capacity.routedTokens)
        .note("of even loads")
        .formula("1 - min(1, experts * tokens / routed_tokens)");
  std::vector<double> shares = droppedShares(iteration);
  for (size_t i = 0; i < shares.size(); ++i)
    dropped.input("layers/" +
                      std::to_string(program.placement->layers[i].loads.layer),
                  shares[i]);
  return dropped
      .note("of a layer: what loads of experts have above factor * their mean")
      .from("expert loads: " + program.placement->source)
      .formula("sum of the inputs / their number");
}

void autopar::report::explainCapacity(const Iteration &iteration,
                                      Report &report) {
  if (!report.training->expertCapacity)
    return;
  const TrainingReport::Capacity &capacity = *report.training->expertCapacity;
  const ExpertCapacity &own = *iteration.parts.program.capacity;
  const std::string folder = "training.expert_capacity.";
  auto add = [&](const char *name, Explanation explanation) {
    report.derivations[folder + name] = std::move(explanation.derivation);
  };
  add("routed_tokens",
      Explanation()
          .input("top_k", own.topK)
          .input("tokens_of_rank", capacity.routedTokens / own.topK,
                 "of a microbatch, as routers have them")
          .formula("top_k * tokens_of_rank"));
  add("tokens", explainTaken(capacity, own, folder));
  add("dropped_share", explainDropped(iteration, capacity, folder));
}
