//===- ServiceAssumptions.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Explain/Assumptions.h"

#include "autopar/Program/ProgramFacts.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::explanation;
using namespace autopar::program;
using namespace autopar::report;

static constexpr const char *source = "docs/physics.md, Serving";

Assumptions autopar::explanation::assumptionsOf(const ServingReport &service) {
  Assumptions assumptions;
  auto assume = [&](const char *name, std::string value) {
    assumptions.push_back(
        {name, std::move(value), "autopar: docs/physics.md, Serving"});
  };
  if (service.isOpen())
    assume("arrivals", "Poisson process");
  if (service.replicas > 1)
    assume("requests", "spread evenly over the replicas");
  if (service.requests.cachedShare > 0)
    assume("prefix-cache hits", "count in the KV cache of each request");
  if (service.steady.load.drafts > 0) {
    assume("drafts", "accepted independently of each other");
    if (!service.requests.draftCost)
      assume("draft cost", formatNumber(service.steady.load.draftCost) +
                               " of a step: one layer of the model");
  }
  return assumptions;
}

Assumptions autopar::explanation::assumptionsOf(const CostProgram &program,
                                                const Service &service,
                                                double encoderUs) {
  const Workload &step = service.step;
  Assumptions assumptions;
  if (step.encoderTokens > 0)
    assumptions.push_back({"images or other encoder input",
                           formatInteger(step.encoderTokens) +
                               " positions per request, " +
                               formatTime(encoderUs) + " of its prefill steps",
                           source});
  if (int64_t cross = crossTokensOf(program, step); cross > 0)
    assumptions.push_back({"cross tokens",
                           formatInteger(cross) +
                               " encoded positions per request, with keys and "
                               "values in its cache",
                           step.crossTokens > 0 ? "user: --cross-tokens"
                                                : "as many as are encoded"});
  if (service.requests.acceptance.empty())
    return assumptions;
  assumptions.push_back(
      {"memory of drafts",
       holdsDrafts(program)
           ? "weights and KV cache of the checkpoint's MTP layers"
           : "not counted: the checkpoint has no MTP layer, so another model "
             "drafts",
       source});
  return assumptions;
}
