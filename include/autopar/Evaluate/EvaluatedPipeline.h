//===- EvaluatedPipeline.h - A step through stages with all of its numbers ---*-
// C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_EVALUATEDPIPELINE_H
#define AUTOPAR_EVALUATE_EVALUATEDPIPELINE_H

#include "autopar/Evaluate/EvaluatedIteration.h"

#include <map>

namespace autopar::evaluation {

/// A step through stages, or an iteration of training, with all numbers that a
/// report has of it.
struct EvaluatedPipeline {
  /// All parts of `inputs` outlive it.
  explicit EvaluatedPipeline(const PlanInputs &inputs);

  const EvaluatedStep &heaviest() const {
    return *byDevice[report.pipeline->partition.heaviest];
  }
  program::PartCounts countsOfDevice(int64_t device) const;
  /// Whether backwards are as many forwards as is usual: the schedule has some,
  /// and the program none.
  bool assumesBackwards() const;

  PlanInputs inputs;
  /// What the stages are made of, of one microbatch.
  PipelineParts parts;
  /// Totals, of which stages have parts.
  cost::Strategy strategy;
  std::unique_ptr<EvaluatedStep> whole;
  /// Devices whose stages are alike share one.
  std::map<program::PartCounts, std::unique_ptr<EvaluatedStep>> stages;
  std::vector<const EvaluatedStep *> byDevice;
  /// The stage that holds the most, and that whose caches are full first.
  int64_t fullest = 0, scarcest = 0;
  std::optional<cost::PipelineSteps> steps;
  /// Of a program with backwards.
  std::optional<EvaluatedIteration> iteration;
  /// Numbers alone: no assumptions, warnings, derivations or impacts.
  report::Report report;
};

/// All numbers of the step of `inputs`, whose plan has stages. Without
/// `boundsStages` it is not looked for how much better other splits of layers
/// over stages might be, which takes longer than all else.
Result<std::unique_ptr<EvaluatedPipeline>>
evaluatePipeline(const PlanInputs &inputs, bool boundsStages);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDPIPELINE_H
