//===- Evaluate.h - A cost program on a machine -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_EVALUATE_H
#define AUTOPAR_REPORT_EVALUATE_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Plan/Plan.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Workload.h"
#include "autopar/Report/Report.h"
#include "autopar/Runtime/Runtime.h"

namespace autopar {

/// What a report says beyond its numbers: `Report::derivations`,
/// `Report::impacts`.
struct ReportDetail {
  bool explain = false, impact = false;
};

/// What `program` costs under `plan`: memory, FLOPs, communication, latency.
/// Pure and re-entrant; never prints. Errors: an axis without a size, more
/// devices than the machine has, a split that its rule forbids, bytes that do
/// not fit in 63 bits or FLOPs in 127; the impact on a pipeline.
Result<Report> evaluate(const CostProgram &program, const Plan &plan,
                        const Machine &machine, const Runtime &runtime,
                        const Workload &workload, ReportDetail detail = {});

} // namespace autopar

#endif // AUTOPAR_REPORT_EVALUATE_H
