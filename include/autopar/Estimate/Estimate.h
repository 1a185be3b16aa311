//===- Estimate.h - Reports of a cost program on a machine ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_ESTIMATE_ESTIMATE_H
#define AUTOPAR_ESTIMATE_ESTIMATE_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Plan/Plan.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Question.h"
#include "autopar/Report/Report.h"
#include "autopar/Runtime/Runtime.h"

namespace autopar::estimation {

/// What a report says beyond its numbers: `Report::derivations`,
/// `Report::impacts`.
struct ReportDetail {
  bool explain = false, impact = false;
  /// What is simulated of the requests that a service has; nothing, if null.
  const report::SimulationChoice *simulation = nullptr;
  /// Whether it is looked for how much better other splits of layers over
  /// stages might be, which takes longer than all else.
  bool boundsStages = true;
};

struct Estimate {
  report::Report report;
  /// The step that the report shows.
  program::Workload step;
};

/// What `program` costs under `plan`: memory, FLOPs, communication, latency;
/// for a service, what it does where its requests come, too. Pure and
/// re-entrant; never prints. Errors: an axis without a size, more devices than
/// the machine has, a split that its rule forbids, bytes that do not fit in 63
/// bits or FLOPs in 127; of a service those of a step of one request for each
/// replica, stages, and a simulated request that no KV cache holds. Requests
/// that none holds in the mean are no error.
Result<Estimate>
estimate(const program::CostProgram &program, const plan::Plan &plan,
         const hardware::Machine &machine, const runtime::Runtime &runtime,
         const program::Question &question, ReportDetail detail = {});

/// The report of the step or iteration of `workload` alone.
Result<report::Report>
estimate(const program::CostProgram &program, const plan::Plan &plan,
         const hardware::Machine &machine, const runtime::Runtime &runtime,
         const program::Workload &workload, ReportDetail detail = {});

} // namespace autopar::estimation

#endif // AUTOPAR_ESTIMATE_ESTIMATE_H
