//===- PricedStep.h - A step and the graph of its formulas ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_PRICEDSTEP_H
#define AUTOPAR_REPORT_PRICEDSTEP_H

#include "autopar/Cost/Exact.h"
#include "autopar/Report/Evaluate.h"

#include <memory>

namespace autopar {

/// What the report of one step is read off, for those who want all of it.
struct PricedStep {
  /// All arguments outlive it. Errors: those of `evaluate`; stages, whose
  /// schedule is simulated; a prefill that takes several steps.
  static Result<std::unique_ptr<PricedStep>>
  price(const CostProgram &program, const Plan &plan, const Machine &machine,
        const Runtime &runtime, const Workload &workload);

  const CostProgram &program;
  const Plan &plan;
  const Machine &machine;
  /// With the chunks of prompts that the plan asks for.
  Runtime runtime;
  Workload workload;
  Strategy strategy;
  Layout layout;
  ExactValues values;

private:
  PricedStep(const CostProgram &program, const Plan &plan,
             const Machine &machine, Runtime runtime, const Workload &workload);
};

} // namespace autopar

#endif // AUTOPAR_REPORT_PRICEDSTEP_H
