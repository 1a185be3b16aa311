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

namespace autopar::report {

/// What a report says beyond its numbers: `Report::derivations`,
/// `Report::impacts`.
struct ReportDetail {
  bool explain = false, impact = false;
  /// What is simulated of the requests that a service has; nothing, if null.
  const SimulationChoice *simulation = nullptr;
  /// Whether it is looked for how much better other splits of layers over
  /// stages might be, which takes longer than all else.
  bool boundsStages = true;
};

/// What `program` costs under `plan`: memory, FLOPs, communication, latency.
/// Pure and re-entrant; never prints. Errors: an axis without a size, more
/// devices than the machine has, a split that its rule forbids, bytes that do
/// not fit in 63 bits or FLOPs in 127.
Result<Report>
evaluate(const program::CostProgram &program, const plan::Plan &plan,
         const hardware::Machine &machine, const runtime::Runtime &runtime,
         const program::Workload &workload, ReportDetail detail = {});

/// What `program` does under `plan` where `requests` come; a simulation of
/// it where there is a `choice`. Errors: those of `evaluate` of a step of one
/// request for each replica; stages; a simulated request that no KV cache
/// holds. Requests that none holds in the mean are no error.
Result<ServingReport> evaluateServing(const program::CostProgram &program,
                                      const plan::Plan &plan,
                                      const hardware::Machine &machine,
                                      const runtime::Runtime &runtime,
                                      const program::Requests &requests,
                                      const SimulationChoice *choice = nullptr);

/// Adds `serving` to the report of a step on `machine`, with what it takes for
/// granted and, where asked for, derivations.
void addServing(Report &report, ServingReport serving,
                const hardware::Machine &machine, bool explain);

} // namespace autopar::report

#endif // AUTOPAR_REPORT_EVALUATE_H
