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

/// The fields of a step that the user set; the others are those of the module.
struct WorkloadChoice {
  std::optional<program::Phase> phase = std::nullopt;
  /// `batch`: sequences. `prompt`: new tokens of each sequence in a prefill.
  /// `context`: cached tokens of each sequence after the step. `encoderTokens`:
  /// positions that an encoder encodes. `crossTokens`: positions that cross
  /// attention sees.
  std::optional<int64_t> batch = std::nullopt, prompt = std::nullopt,
                         context = std::nullopt, encoderTokens = std::nullopt,
                         crossTokens = std::nullopt;
  /// Whether steps have prompts beside decoding sequences, in which case latent
  /// attention uses another form.
  bool isMixed = false;
};

/// The fields of a service's requests that the user set; the others are those
/// of the module.
struct RequestsChoice {
  /// `ratePerS`: requests that arrive per second. `concurrency`: requests that
  /// run at once.
  std::optional<double> ratePerS = std::nullopt;
  std::optional<int64_t> concurrency = std::nullopt;
  /// Tokens of prompts and of answers, in the syntax of `TokenLengths`, and
  /// latency limits; "" if not set.
  std::string prompt = {}, answer = {}, limits = {};
  /// The values that the user set for `requestKnobs`.
  std::vector<program::RequestNumbers> numbers = {};

  bool isGiven() const {
    return ratePerS || concurrency || !answer.empty() || !limits.empty() ||
           !numbers.empty();
  }
};

/// Everything that a user asks for: a plan, its target machine and runtime, and
/// the step or the requests to serve.
struct PlanRequest {
  plan::Plan plan;
  transforms::Target target;
  WorkloadChoice workload;
  RequestsChoice requests = {};
  /// Whether caches get the rows that the runtime of the target keeps. What is
  /// said of a model alone is of no runtime.
  bool keepsRows = true;
};

/// Adds the passes that turn a model into the parallel program of `request`:
/// they bind target, workload, formats and mesh, split tensors, insert
/// collectives, place experts, and divide layers into stages.
void addPlanPasses(mlir::OpPassManager &pm, PlanRequest request);
/// Adds only those passes that bind target, workload, requests and formats.
/// Their result is the same for all plans of a model.
void addBindingPasses(mlir::OpPassManager &pm, PlanRequest request);

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_PLANPASSES_H
