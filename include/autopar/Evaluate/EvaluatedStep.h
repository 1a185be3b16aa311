//===- EvaluatedStep.h - A step with all of its numbers ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_EVALUATEDSTEP_H
#define AUTOPAR_EVALUATE_EVALUATEDSTEP_H

#include "autopar/Evaluate/StepWork.h"

#include <memory>

namespace autopar::evaluation {

/// A step on the devices of one stage, with all numbers of its report. A
/// prefill that exceeds the token budget is the sum of its steps.
struct EvaluatedStep : PricedStep {
  using PricedStep::PricedStep;

  /// The step that takes longest: this one, or a step of a prefill.
  const EvaluatedStep &longestStep() const;

  /// Numbers only: no assumptions, warnings, derivations or impacts.
  report::Report report;
  std::vector<CollectiveCall> calls;
  /// For each row of the report's collectives, indices into `calls`.
  std::vector<std::vector<size_t>> membersOfRow;
  /// Time of one launch of each kernel, with its share of the floor, in us.
  std::vector<double> kernelTimeUs;

  /// The kinds of steps of a prefill with several steps.
  std::vector<program::PrefillChunk> chunks;
  std::vector<std::unique_ptr<EvaluatedStep>> steps;
};

/// Evaluates the step of `inputs` on `layout`; all arguments outlive the
/// result. Errors: a refused layout; numbers that do not fit in a report.
Result<std::unique_ptr<EvaluatedStep>>
evaluateStep(const PlanInputs &inputs, const cost::Strategy &strategy,
             const cost::Layout &layout);

// The parts of a report that do not depend on the work of its steps.
Result<report::Report::Model> modelOf(const PricedStep &step);
Result<report::Report::Mesh> meshOf(const PricedStep &step);
Result<report::Report::Memory> memoryOf(const PricedStep &step);
Result<report::Report::Capacity>
capacityOf(const PricedStep &step, const report::Report::Memory &memory);
std::optional<placement::ExpertPlacement> expertLoadsOf(const PricedStep &step);

/// The work of all `steps` of a prefill, each multiplied by its count in
/// `chunks`.
Result<StepWork>
sumOf(const PricedStep &whole, const std::vector<program::PrefillChunk> &chunks,
      const std::vector<std::unique_ptr<EvaluatedStep>> &steps);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDSTEP_H
