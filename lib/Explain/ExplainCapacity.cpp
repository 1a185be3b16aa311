//===- ExplainCapacity.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingParts.h"

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::program;
using namespace autopar::report;

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

static Explanation explainDropped(const EvaluatedIteration &iteration,
                                  const TrainingReport::Capacity &capacity,
                                  const std::string &folder) {
  const CostProgram &program = iteration.parts.program;
  Explanation dropped;
  if (!program.placement)
    return dropped.input("experts", program.capacity->experts)
        .input(folder + "tokens", capacity.tokens)
        .input(folder + "routed_tokens", capacity.routedTokens)
        .note("if loads are even")
        .formula("1 - min(1, experts * tokens / routed_tokens)");
  std::vector<double> shares = droppedShares(iteration);
  for (size_t i = 0; i < shares.size(); ++i)
    dropped.input("layers/" +
                      std::to_string(program.placement->layers[i].loads.layer),
                  shares[i]);
  return dropped
      .note("per layer: the part of expert loads above factor * mean load")
      .from("expert loads: " + program.placement->source)
      .formula("sum of the inputs / their number");
}

void autopar::explanation::explainCapacity(const EvaluatedIteration &iteration,
                                           const Report &report,
                                           Derivations &derivations) {
  if (!report.training->expertCapacity)
    return;
  const TrainingReport::Capacity &capacity = *report.training->expertCapacity;
  const ExpertCapacity &own = *iteration.parts.program.capacity;
  const std::string folder = "training.expert_capacity.";
  auto add = [&](const char *name, Explanation explanation) {
    derivations[folder + name] = std::move(explanation.derivation);
  };
  add("routed_tokens",
      Explanation()
          .input("top_k", own.topK)
          .input("tokens_of_rank", capacity.routedTokens / own.topK,
                 "tokens of a microbatch on a rank")
          .formula("top_k * tokens_of_rank"));
  add("tokens", explainTaken(capacity, own, folder));
  add("dropped_share", explainDropped(iteration, capacity, folder));
}
