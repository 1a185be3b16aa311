//===- PlanPasses.h - From a plan to passes ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PIPELINES_PLANPASSES_H
#define AUTOPAR_PIPELINES_PLANPASSES_H

#include "autopar/Plan/Plan.h"
#include "autopar/Program/RequestKnobs.h"
#include "autopar/Program/Workload.h"
#include "autopar/Transforms/Bind/Target.h"

#include "mlir/Pass/PassManager.h"

namespace autopar::pipelines {

/// The chosen fields of a step; the others are the module's own.
struct WorkloadChoice {
  std::optional<program::Phase> phase = std::nullopt;
  /// Sequences; new tokens of each in a prefill; cached tokens of each after
  /// the step; positions that an encoder encodes, and that cross attention
  /// sees.
  std::optional<int64_t> batch = std::nullopt, prompt = std::nullopt,
                         context = std::nullopt, encoderTokens = std::nullopt,
                         crossTokens = std::nullopt;
  /// Whether steps have prompts beside sequences that decode, which latent
  /// attention computes otherwise.
  bool isMixed = false;
};

/// The chosen fields of a service's requests; the others are the module's own.
struct RequestsChoice {
  /// Arrival rate per second; concurrency.
  std::optional<double> ratePerS = std::nullopt;
  std::optional<int64_t> concurrency = std::nullopt;
  /// Tokens, in the syntax of `TokenLengths`; latency limits; empty if not
  /// chosen.
  std::string prompt = {}, answer = {}, limits = {};
  /// The numbers of `requestKnobs`.
  std::vector<program::RequestNumbers> numbers = {};

  bool isGiven() const {
    return ratePerS || concurrency || !answer.empty() || !limits.empty() ||
           !numbers.empty();
  }
};

/// A plan of a model, its target, and the step or the requests that it serves.
struct PlanRequest {
  plan::Plan plan;
  transforms::Target target;
  WorkloadChoice workload;
  RequestsChoice requests = {};
};

/// Adds the passes that turn a model into the parallel program of `request`:
/// they bind target, workload, formats and mesh, split, insert collectives,
/// place experts, and lay out stages.
void addPlanPasses(mlir::OpPassManager &pm, PlanRequest request);
/// Adds only the passes that bind target, workload, requests and formats, which
/// all plans of a model share.
void addBindingPasses(mlir::OpPassManager &pm, PlanRequest request);

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_PLANPASSES_H
