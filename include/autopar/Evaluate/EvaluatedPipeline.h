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

/// A step through pipeline stages, or an iteration of training, with all
/// numbers of its report.
struct EvaluatedPipeline {
  /// All parts of `inputs` outlive it.
  explicit EvaluatedPipeline(const PlanInputs &inputs);

  const EvaluatedStep &heaviest() const {
    return *byDevice[report.pipeline->partition.heaviest];
  }
  program::PartCounts countsOfDevice(int64_t device) const;
  /// Whether the time of backwards is assumed as a multiple of the forward's:
  /// the schedule has backwards, but the program does not.
  bool assumesBackwards() const;

  PlanInputs inputs;
  /// The parts of stages, for one microbatch.
  PipelineParts parts;
  /// Formulas of the whole model, of which stages have parts.
  cost::Strategy strategy;
  std::unique_ptr<EvaluatedStep> whole;
  /// Devices with equal stages share one entry.
  std::map<program::PartCounts, std::unique_ptr<EvaluatedStep>> stages;
  std::vector<const EvaluatedStep *> byDevice;
  /// The device that holds most, and the one whose caches fill up first.
  int64_t fullest = 0, scarcest = 0;
  std::optional<cost::PipelineSteps> steps;
  /// Present for a program with backwards.
  std::optional<EvaluatedIteration> iteration;
  /// Numbers only: no assumptions, warnings, derivations or impacts.
  report::Report report;
};

/// Evaluates the step of `inputs`, whose plan has stages. Without
/// `boundsStages` other splits of layers are not bounded, which takes longer
/// than the rest.
Result<std::unique_ptr<EvaluatedPipeline>>
evaluatePipeline(const PlanInputs &inputs, bool boundsStages);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDPIPELINE_H
