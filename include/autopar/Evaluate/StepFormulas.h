//===- StepFormulas.h - A step that formulas alone say ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_STEPFORMULAS_H
#define AUTOPAR_EVALUATE_STEPFORMULAS_H

#include "autopar/Evaluate/PricedStep.h"

#include <memory>

namespace autopar::evaluation {

/// A priced step, together with the graph of its formulas and everything to
/// which the graph refers.
struct StepFormulas {
  /// Prices a step. The arguments must outlive the result. Errors: those of
  /// `estimate`; pipeline stages, whose schedule is simulated; a prefill that
  /// takes several steps.
  static Result<std::unique_ptr<StepFormulas>>
  price(const program::CostProgram &program, const plan::Plan &plan,
        const hardware::Machine &machine, const runtime::Runtime &runtime,
        const program::Workload &workload);

  /// The runtime, with the prefill chunk (token budget) of the plan if the plan
  /// sets one.
  const runtime::Runtime runtime;
  const program::Workload workload;
  const cost::Strategy strategy;
  PricedStep step;

private:
  StepFormulas(const program::CostProgram &program, const plan::Plan &plan,
               const hardware::Machine &machine, runtime::Runtime runtime,
               const program::Workload &workload);
};

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_STEPFORMULAS_H
