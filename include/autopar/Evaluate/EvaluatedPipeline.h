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

/// An evaluated step of a pipeline, or an evaluated training iteration, with
/// all numbers of its report.
struct EvaluatedPipeline {
  /// Everything that `inputs` refers to must outlive this object.
  explicit EvaluatedPipeline(const PlanInputs &inputs);

  const EvaluatedStep &heaviest() const {
    return *byDevice[report.pipeline->partition.heaviest];
  }
  program::PartCounts countsOfDevice(int64_t device) const;
  /// Whether the time of backwards is assumed as a multiple of the forward's:
  /// the schedule has backwards, but the program does not.
  bool assumesBackwards() const;

  PlanInputs inputs;
  /// The priced layers, for one microbatch.
  PipelineParts parts;
  /// The formulas of the whole model; each stage evaluates the formulas of its
  /// layers.
  cost::Strategy strategy;
  std::unique_ptr<EvaluatedStep> whole;
  /// The evaluated step of each distinct stage; devices with equal stages share
  /// one. `byDevice` finds a device's step.
  std::map<program::PartCounts, std::unique_ptr<EvaluatedStep>> stages;
  std::vector<const EvaluatedStep *> byDevice;
  /// Indices of the device that needs the most memory, and of the device whose
  /// KV caches fill up first.
  int64_t fullest = 0, scarcest = 0;
  std::optional<cost::PipelineSteps> steps;
  /// The training iteration; nothing if the program has no backwards.
  std::optional<EvaluatedIteration> iteration;
  /// The report's numbers, without assumptions, warnings, derivations and
  /// impacts.
  report::Report report;
};

/// Evaluates the step of `inputs`, whose plan has pipeline stages. Without
/// `boundsStages`, no bound on other splits of the layers is computed, which
/// takes longer than everything else.
Result<std::unique_ptr<EvaluatedPipeline>>
evaluatePipeline(const PlanInputs &inputs, bool boundsStages);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDPIPELINE_H
