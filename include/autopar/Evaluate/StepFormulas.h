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

/// A priced step with the graph of its formulas and everything that the graph
/// refers to.
struct StepFormulas {
  /// All arguments outlive it. Errors: those of `estimate`; stages, whose
  /// schedule is simulated; a prefill that takes several steps.
  static Result<std::unique_ptr<StepFormulas>>
  price(const program::CostProgram &program, const plan::Plan &plan,
        const hardware::Machine &machine, const runtime::Runtime &runtime,
        const program::Workload &workload);

  /// The runtime with the prefill chunk of the plan, if it sets one.
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
