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

/// An evaluated step on the devices of one stage, with all numbers of its
/// report. A prefill above the token budget is the sum of several steps.
struct EvaluatedStep : PricedStep {
  using PricedStep::PricedStep;

  /// Returns the step that takes longest: this one or, in a prefill of several
  /// steps, one of these.
  const EvaluatedStep &longestStep() const;

  /// The report's numbers, without assumptions, warnings, derivations and
  /// impacts.
  report::Report report;
  std::vector<CollectiveCall> calls;
  /// For each row of the report's table of collectives, the indices of its
  /// calls in `calls`.
  std::vector<std::vector<size_t>> membersOfRow;
  /// Time in us of one launch of each kernel, with the kernel's share of the
  /// launch floor.
  std::vector<double> kernelTimeUs;

  /// For a prefill of several steps: the kinds of steps with their counts, and
  /// the evaluated step of each kind.
  std::vector<program::PrefillChunk> chunks;
  std::vector<std::unique_ptr<EvaluatedStep>> steps;
};

/// Evaluates the step of `inputs` on `layout`. All arguments must outlive the
/// result. Errors: the layout is refused; a number does not fit in the report.
Result<std::unique_ptr<EvaluatedStep>>
evaluateStep(const PlanInputs &inputs, const cost::Strategy &strategy,
             const cost::Layout &layout);

// These functions return the parts of a report that do not depend on the work
// of its steps.
Result<report::Report::Model> modelOf(const PricedStep &step);
Result<report::Report::Mesh> meshOf(const PricedStep &step);
Result<report::Report::Memory> memoryOf(const PricedStep &step);
Result<report::Report::Capacity>
capacityOf(const PricedStep &step, const report::Report::Memory &memory);
std::optional<placement::ExpertPlacement> expertLoadsOf(const PricedStep &step);

/// Returns the sum of the work of all `steps` of a prefill, each multiplied by
/// its count in `chunks`.
Result<StepWork>
sumOf(const PricedStep &whole, const std::vector<program::PrefillChunk> &chunks,
      const std::vector<std::unique_ptr<EvaluatedStep>> &steps);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDSTEP_H
