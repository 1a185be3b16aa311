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

namespace autopar::report {

/// What the report of one step is read off, for those who want all of it.
struct PricedStep {
  /// All arguments outlive it. Errors: those of `evaluate`; stages, whose
  /// schedule is simulated; a prefill that takes several steps.
  static Result<std::unique_ptr<PricedStep>>
  price(const program::CostProgram &program, const plan::Plan &plan,
        const hardware::Machine &machine, const runtime::Runtime &runtime,
        const program::Workload &workload);

  const program::CostProgram &program;
  const plan::Plan &plan;
  const hardware::Machine &machine;
  /// With the chunks of prompts that the plan asks for.
  runtime::Runtime runtime;
  program::Workload workload;
  cost::Strategy strategy;
  cost::Layout layout;
  cost::ExactValues values;

private:
  PricedStep(const program::CostProgram &program, const plan::Plan &plan,
             const hardware::Machine &machine, runtime::Runtime runtime,
             const program::Workload &workload);
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_PRICEDSTEP_H
