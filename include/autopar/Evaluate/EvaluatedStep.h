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

/// A step on the devices of one stage, with all numbers that a report has of
/// it. A prefill of more tokens than the runtime computes at once is the sum of
/// its steps.
struct EvaluatedStep : PricedStep {
  using PricedStep::PricedStep;

  /// The step that takes longest: this one, or of a prefill one of its steps.
  const EvaluatedStep &longestStep() const;

  /// Numbers alone: no assumptions, warnings, derivations or impacts.
  report::Report report;
  std::vector<CollectiveCall> calls;
  /// For each row of the report's collectives, which of `calls` are in it.
  std::vector<std::vector<size_t>> membersOfRow;
  /// Of one launch of each kernel, with its share of the floor.
  std::vector<double> kernelTimeUs;

  /// Of a prefill that takes several steps, each kind of them.
  std::vector<program::PrefillChunk> chunks;
  std::vector<std::unique_ptr<EvaluatedStep>> steps;
};

/// All numbers of the step of `inputs` on `layout`; all arguments outlive them.
/// Errors: what refuses the layout; numbers that do not fit in a report.
Result<std::unique_ptr<EvaluatedStep>>
evaluateStep(const PlanInputs &inputs, const cost::Strategy &strategy,
             const cost::Layout &layout);

// What of a report is not the work of its steps.
Result<report::Report::Model> modelOf(const PricedStep &step);
Result<report::Report::Mesh> meshOf(const PricedStep &step);
Result<report::Report::Memory> memoryOf(const PricedStep &step);
Result<report::Report::Capacity>
capacityOf(const PricedStep &step, const report::Report::Memory &memory);
std::optional<placement::ExpertPlacement> expertLoadsOf(const PricedStep &step);

/// The work of all `steps` of a prefill, each as often as `chunks` say.
Result<StepWork>
sumOf(const PricedStep &whole, const std::vector<program::PrefillChunk> &chunks,
      const std::vector<std::unique_ptr<EvaluatedStep>> &steps);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDSTEP_H
